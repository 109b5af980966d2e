/** One kind of load: what is asked, by how many clients at once. */
export interface Scenario {
  readonly name: string
  readonly title: string
  readonly clients: number
  readonly is_stream: boolean
  readonly body: string
}

/** Two turns of a chat, padded to a length in bytes. `wish` tells the provider what to answer. */
function chat(length: number, wish: string, more: object = {}): string {
  const asked = (padding: string) =>
    JSON.stringify({
      model: 'gpt-4o-mini',
      temperature: 0.2,
      max_tokens: 300,
      user: wish,
      ...more,
      messages: [
        {role: 'system', content: 'You are a patient assistant who answers "briefly" and\nin the user’s language.'},
        {role: 'user', content: `Summarise this: ${padding}`},
      ],
    })
  const line = 'Fields with \\"quotes\\", tabs\\tand accents like café make a body as a real one. '
  const missing = length - Buffer.byteLength(asked(''))
  // a line of ours is longer once it is encoded, so the padding is measured by its encoded form
  const encoded = (text: string) => Buffer.byteLength(JSON.stringify(text)) - 2
  const lines = line.repeat(Math.floor(missing / encoded(line)))
  return asked(lines + 'x'.repeat(missing - encoded(lines)))
}

const stream = {stream: true, stream_options: {include_usage: true}}
const json = (name: string, title: string, clients: number, body: string): Scenario => ({
  name,
  title,
  clients,
  is_stream: false,
  body,
})
const sse = (name: string, title: string, clients: number, wish: string): Scenario => ({
  name,
  title,
  clients,
  is_stream: true,
  body: chat(1024, wish, stream),
})

export const SMALL = json('json1k@32', '1 KB asked, 1 KB answered, 32 clients', 32, chat(1024, 'bench r1'))
export const ALONE = json('json1k@1', '1 KB asked, 1 KB answered, one client', 1, chat(1024, 'bench r1'))
export const LARGE = json('json32k@32', '32 KB asked, 4 KB answered, 32 clients', 32, chat(32 * 1024, 'bench r4'))
export const FIRST_EVENT = sse('sse@4', 'streams of 20 events 2 ms apart, 4 clients', 4, 'bench n20 d2')
export const BESIDE_EVENTS = sse('sse@8', 'streams of 20 events 2 ms apart, 8 clients', 8, 'bench n20 d2')
export const EVENTS = sse('sse@32', 'streams of 50 events 10 ms apart, 32 clients', 32, 'bench n50 d10')
