import {expect, test} from 'vitest'
import {supports, translationFor} from '../../src/providers/clients.ts'
import type {Provider} from '../../src/providers/provider.ts'
import {find, list} from '../../src/providers/registry.ts'
import {VENDOR_OPERATIONS} from '../../src/providers/vendor-operations/table.ts'
import type {EndpointName} from '../../src/schema/endpoints.ts'
import {forRing, generated, seed} from '../support/ring.ts'
import {type Case, COMBINATIONS, caseAt, nameOf} from './metered-streams/cases.ts'
import {type House, openHouse, type Seen, type Sent} from './metered-streams/house.ts'
import {comparable, difference, wrongInBytes, wrongInLedger} from './metered-streams/oracle.ts'
import {WAYS} from './metered-streams/ways.ts'

// Every dialect, whole and streamed, cut and left wherever it may be, labelled and reporting its usage in every way:
// the ledger holds what the provider bills, or says that it does not and charges the text that was seen. No client can
// tell by its bytes that a limit counts its stream.

const CASES = forRing({own: 80, ci: 3_200, full: 40_000})
const AT_A_TIME = 8
const MAX_FAULTS = 25

/** Operations that generate and are not played, and why. */
const NOT_PLAYED: Readonly<Record<string, string>> = {
  'anthropic.complete': 'its words are played by the unified route, and it tells no usage',
  'google.interactions.create': 'its usage is read from a whole object in every event (vendor-operations)',
  'huggingface.hf-inference': 'it has no words of its own',
  'huggingface.models': 'it has no words of its own',
  'llama.cpp.infill': 'in the words of its completion',
  'mistral.agents.completions': 'in the words of chat; its model stands in an object',
  'mistral.conversations.append': 'its model stands in an object',
  'mistral.conversations.start': 'its model stands in an object',
  'openai.audio.transcriptions': 'a form, charged by what is heard',
  'openai.audio.translations': 'a form, charged by what is heard',
  'openai.responses.compact': 'it does not stream',
  'tgi.generate': 'its stream tells no prompt',
  'tgi.generate_stream': 'its stream tells no prompt',
}

/** In whose words an endpoint is streamed by a provider; null: not at all. */
function wordsOf(provider: Provider, endpoint: EndpointName): string | null {
  const pair = translationFor(provider, endpoint)
  if (!pair) return supports(provider, endpoint) ? `${endpoint} as it comes` : null
  return pair.translation.stream ? `${endpoint} in the words of ${pair.dialect?.name ?? 'chat'}` : null
}

test('every dialect that the gateway serves is played', () => {
  const streamed: readonly EndpointName[] = ['chatComplete', 'complete', 'messages', 'createModelResponse']
  const served = new Set(
    list().flatMap(provider => streamed.map(endpoint => wordsOf(provider, endpoint)).filter(words => words !== null)),
  )
  const played = new Set(WAYS.flatMap(({endpoint, provider}) => (endpoint ? [wordsOf(find(provider)!, endpoint)] : [])))
  expect([...served].filter(words => !played.has(words))).toEqual([])
  const operations = new Set(
    VENDOR_OPERATIONS.filter(({generates, money}) => generates && money === 'costed').map(({name}) => name),
  )
  const driven = new Set(WAYS.flatMap(({operations: names}) => names))
  expect([...operations].filter(name => !driven.has(name)).toSorted()).toEqual(Object.keys(NOT_PLAYED))
  expect([...driven].filter(name => !operations.has(name))).toEqual([])
})

interface Played {
  readonly one: Case
  readonly trace: string
  readonly seen: Seen
  readonly sent: Sent
}

test('the ledger holds what providers bill, and no byte tells of it', {timeout: 600_000}, async () => {
  const house = await openHouse()
  const faults: string[] = []
  const tell = (at: number, one: Case, wrong: string | null) => wrong && faults.push(`${at} ${nameOf(one)}: ${wrong}`)
  try {
    const played: Played[] = []
    let next = 0
    const lane = async () => {
      for (let at = next++; at < CASES; at = next++) {
        const one = caseAt((seed() + at) % COMBINATIONS, seed())
        const wrong = await tried(house, one, at, played)
        tell(at, one, wrong)
      }
    }
    await Promise.all(Array.from({length: AT_A_TIME}, lane))
    const entries = await house.entries(played.length)
    for (const {one, trace, seen, sent} of played)
      tell(Number(trace.split('-')[1]), one, wrongInLedger(one, seen, sent, entries.get(trace) ?? []))
  } finally {
    await house.close()
  }
  generated('metered streams', CASES)
  expect([faults.length, faults.slice(0, MAX_FAULTS)]).toEqual([0, []])
})

/** Plays a case, and what ends by itself without a limit as well. Gives what is wrong with the bytes. */
async function tried(house: House, one: Case, at: number, played: Played[]): Promise<string | null> {
  const {seen, sent} = await house.play(one, `ms-${at}-a`, one.is_limited ? 'limited' : 'free')
  played.push({one, trace: `ms-${at}-a`, seen, sent})
  const ends = one.end === 'whole' || one.end === 'stream'
  if (ends && seen.status !== 200) return `it is answered ${seen.status} ${seen.bytes.toString().slice(0, 300)}`
  if (one.way.is_as_came) return wrongInBytes(one, seen, sent)
  if (!ends || !one.is_limited) return null
  const other = await house.play(one, `ms-${at}-b`, 'free')
  played.push({one: {...one, is_limited: false}, trace: `ms-${at}-b`, ...other})
  const [limited, free] = [comparable(seen), comparable(other.seen)]
  return limited === free ? null : `a limit shows: ${difference(limited, free)}`
}
