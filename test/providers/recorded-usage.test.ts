import {globSync, readFileSync} from 'node:fs'
import {join} from 'node:path'
import {describe, expect, test} from 'vitest'
import {isObject, object, parsed} from '../../src/base/json-object.ts'
import {membersThatMayCost} from '../../src/providers/informative-members.ts'
import {readReply} from '../../src/providers/openai/reply.ts'
import {withRemainder} from '../../src/providers/remainders.ts'
import {rawUsageOf, usageOf} from '../../src/providers/vendor-operations/raw-usage.ts'
import {generated} from '../support/ring.ts'

const FIXTURES = join(import.meta.dirname, '../fixtures')
const CASES = join(import.meta.dirname, '../pricing/cost-cases.jsonl')

/** Recordings of OpenAI's words that are another kind's. */
const OF_KIND: Readonly<Record<string, string>> = {
  groq: 'groq',
  'openrouter-comments': 'openrouter',
  'deepseek-crlf': 'deepseek',
  'reply-perplexity': 'perplexity-ai',
  'reply-xai': 'x-ai',
  'reply-moonshot': 'moonshot',
  'reply-gemini': 'google',
  'reply-pinecone': 'pinecone',
  'azure-empty-choices': 'azure-openai',
}
const OF_FOLDER: Readonly<Record<string, string>> = {
  gemini: 'google',
  mistral: 'mistral-ai',
  together: 'together-ai',
  messages: 'anthropic',
}

interface Recorded {
  readonly name: string
  readonly kind: string
  readonly unknown: readonly string[]
}

function recordings(): readonly Recorded[] {
  const files = globSync('*/**/{reply,response,events}.{json,txt}', {cwd: FIXTURES}).toSorted()
  return files.flatMap(file => {
    const [folder = '', , name = ''] = file.split('/')
    const kind = OF_KIND[name] ?? OF_FOLDER[folder] ?? folder
    const text = readFileSync(join(FIXTURES, file), 'utf8')
    return jsonIn(text).flatMap(json => {
      const raw = rawUsageOf(json)
      const usage = raw && usageOf(raw)
      return usage
        ? [{name: file, kind, unknown: membersThatMayCost(kind, withRemainder(kind, usage).unknown ?? [])}]
        : []
    })
  })
}

/** Objects of JSON in a recording: a body, a list of events, or the data of a stream. */
function jsonIn(text: string): readonly Readonly<Record<string, unknown>>[] {
  const whole = parsed(text)
  if (Array.isArray(whole)) return whole.flatMap(each => [object(each), object(object(each).data)])
  if (isObject(whole)) return [whole, object(whole.body)]
  return text.split(/\r\n|\r|\n/).flatMap(line => {
    const json = parsed(line.replace(/^data: ?/, ''))
    return isObject(json) ? [json] : []
  })
}

describe('doors 11: what providers were recorded to say of usage', () => {
  const all = recordings()
  generated('recorded usage', all.length)

  test('is read, or known to inform: no recording flags', () => {
    expect(all.length).toBeGreaterThan(80)
    expect(all.filter(({unknown}) => unknown.length > 0)).toEqual([])
  })

  test('and neither do cases of what calls cost', () => {
    const cases = readFileSync(CASES, 'utf8')
      .split('\n')
      .filter(line => line !== '')
      .map(line => object(parsed(line)))
    expect(cases.length).toBeGreaterThan(70)
    const flagged = cases.flatMap(({id, provider, reply}) => {
      const raw = rawUsageOf(object(reply))
      const usage = raw && usageOf(raw)
      const unknown = usage
        ? membersThatMayCost(String(provider), withRemainder(String(provider), usage).unknown ?? [])
        : []
      return unknown.length > 0 ? [[String(id), unknown]] : []
    })
    expect(Object.fromEntries(flagged)).toEqual({})
  })

  test.each([100, 100_000])(
    'usage of tools beside the usage of a picture is read, also where the reply has %i bytes of it',
    bytes => {
      const reply = {
        created: 1,
        svg_usage: {total_tokens: 70, input_tokens: 30},
        data: [{b64_json: 'A'.repeat(bytes)}],
        usage: {input_tokens: 10, output_tokens: 20, total_tokens: 30},
      }
      const {usage} = readReply('imageGenerate', Buffer.from(JSON.stringify(reply)))
      expect([usage?.input_uncached_tokens, usage?.unknown]).toEqual([
        10,
        ['svg_usage.total_tokens', 'svg_usage.input_tokens'],
      ])
    },
  )
})
