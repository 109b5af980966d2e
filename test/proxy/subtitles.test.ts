import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {type FakeProvider, fakeProvider} from '../support/provider.ts'

let gateway: TestGateway
let provider: FakeProvider
beforeAll(async () => {
  provider = await fakeProvider()
  gateway = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1'})
  await gateway.provider('sound', 'openai', provider.url)
}, 60_000)
afterAll(async () => {
  await gateway.close()
  await provider.close()
})

const CUE = '00:00:01,000 --> 00:00:04,000'
/** Replies of `response_format`: the type, the body, and how long it says the sound was. */
const REPLIES: readonly (readonly [format: string, type: string, body: string, seconds: number | null])[] = [
  ['text', 'text/plain; charset=utf-8', 'Hello\n', null],
  ['srt', 'text/plain; charset=utf-8', `1\n${CUE}\nHello\n\n`, null],
  ['vtt', 'text/vtt', `WEBVTT\n\n${CUE.replaceAll(',', '.')}\nHello\n`, null],
  ['json', 'application/json', '{"text":"Hello"}', null],
  ['json, with a usage that says nothing', 'application/json', '{"text":"Hello","usage":{"type":"duration"}}', null],
  ['verbose_json', 'application/json', '{"text":"Hello","duration":59.2,"language":"english"}', 60],
  ['json, with a usage', 'application/json', '{"text":"Hello","usage":{"type":"duration","seconds":60}}', 60],
]
const PATHS = [
  '/v1/audio/transcriptions',
  '/v1/audio/translations',
  '/v1/proxy/audio/transcriptions',
  '/v1/proxy/audio/translations',
]

describe('fact 1: sound that is written down is never silently free', () => {
  for (const path of PATHS) {
    test.each(REPLIES)(`${path}: %s`, async (format, type, body, seconds) => {
      provider.answer((_heard, response) => response.writeHead(200, {'content-type': type}).end(body))
      const form = new FormData()
      form.append('model', 'whisper-1')
      form.append('response_format', format.split(',')[0]!)
      form.append('file', new Blob(['RIFF']), 'a.wav')
      const reply = await gateway.call(path, {method: 'POST', body: form, headers: {'x-gateway-provider': '@sound'}})
      expect(await reply.text()).toBe(body)
      const [row] = await gateway.logs()
      if (seconds === null) expect(row).toMatchObject({usage_source: 'unmetered', cost: 0})
      else {
        expect(row).toMatchObject({usage_source: 'provider', unpriced: false})
        // 0.6 cents a minute
        expect(row!.cost).toBeCloseTo(0.6 * (seconds / 60), 6)
      }
    })
  }
})
