import OpenAI, {toFile} from 'openai'
import {type TestGateway, WORKSPACE_KEY} from './gateway.ts'

/** The unmodified client of OpenAI, at one provider of the gateway. */
export function openaiAt(gateway: TestGateway, provider: string, headers: Record<string, string> = {}): OpenAI {
  const defaultHeaders = {'x-gateway-provider': provider, ...headers}
  return new OpenAI({apiKey: WORKSPACE_KEY, baseURL: `${gateway.url}/v1`, maxRetries: 0, defaultHeaders})
}

/** A row of a batch's input. */
export const chatRow = (custom_id: string, model: string, content: string) => ({
  custom_id,
  method: 'POST',
  url: '/v1/chat/completions',
  body: {
    model,
    max_tokens: 50,
    messages: [
      {role: 'system', content: 'Be brief.'},
      {role: 'user', content},
    ],
  },
})

export const asLines = (rows: readonly object[]): Buffer =>
  Buffer.from(rows.map(each => `${JSON.stringify(each)}\n`).join(''))

export const rowsFile = (rows: readonly object[], name = 'rows.jsonl') => toFile(asLines(rows), name)

export const asRows = (text: string | Buffer) =>
  text
    .toString()
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))
