import {readFields, SseFramer} from '../src/base/sse.ts'

const MOST_EVENT_BYTES = 16 * 2 ** 20

/**
 * Reads server-sent events whose data is JSON, each as it comes, and resolves to the reply among them; undefined where
 * there is none. `onEvent` takes what comes before it: true for what it took. Data that is no JSON is passed over.
 */
export async function replyOfEvents(
  body: AsyncIterable<Uint8Array>,
  onEvent: (data: unknown) => boolean,
): Promise<unknown> {
  let reply: unknown
  const framer = new SseFramer(raw => {
    const data = raw ? parsed(readFields(raw).data.join('\n')) : undefined
    if (data !== undefined && !onEvent(data)) reply = data
  }, MOST_EVENT_BYTES)
  for await (const chunk of body) framer.push(Buffer.from(chunk))
  return reply
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
