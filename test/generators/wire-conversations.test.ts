import {expect, test} from 'vitest'
import type {Json} from '../../src/providers/translation.ts'
import {forRing, generated, seed} from '../support/ring.ts'
import {refusals, STRICT} from '../support/strict/index.ts'
import {Random} from './strict-reservations/random.ts'
import {CLIENTS} from './wire-conversations/clients.ts'
import {type History, historyOf} from './wire-conversations/histories.ts'
import {WIRE_TARGETS, type WireTarget, wayTo} from './wire-conversations/targets.ts'

// Random conversations in the words of each client, to each provider that they are translated for: what leaves breaks
// no rule of the provider's, or the request was refused before, with the field; and no text of it is lost.

const HISTORIES = forRing({own: 60, ci: 400, full: 4000})
const MOST_SHOWN = 60

const WAYS = WIRE_TARGETS.flatMap(target =>
  Object.entries(CLIENTS).flatMap(([client, {endpoint, write}]) => {
    const way = wayTo(target, endpoint)
    return way ? [{name: `${client} to ${target.slug} ${target.model}`, target, write, way}] : []
  }),
)

test('what leaves for a provider is nothing that it documents to refuse, and loses no text', {timeout: 120_000}, () => {
  const random = new Random(seed())
  /** The first case of each fault, and how many there are. */
  const faults = new Map<string, {first: string; count: number}>()
  const passed = new Map<string, number>()
  let conversations = 0
  for (let at = 0; at < HISTORIES; at++) {
    const history = historyOf(random)
    for (const {name, target, write, way} of WAYS) {
      const request = write(history)
      const sent = way(request)
      conversations++
      if ('refused' in sent) continue
      passed.set(name, (passed.get(name) ?? 0) + 1)
      for (const fault of faultsOf(sent.body, history, target)) {
        const kind = `${name}: ${fault.split(':')[0]}`
        const known = faults.get(kind) ?? {first: `history ${at}: ${fault}`, count: 0}
        faults.set(kind, {...known, count: known.count + 1})
      }
    }
  }
  const shown = [...faults].map(([kind, {first, count}]) => `${count} times ${kind}, ${first}`)
  expect(shown.slice(0, MOST_SHOWN), `of ${conversations} conversations`).toEqual([])
  // A gateway that refuses everything would keep to every rule.
  expect(WAYS.filter(({name}) => (passed.get(name) ?? 0) < HISTORIES / 5).map(({name}) => name)).toEqual([])
  generated('wire conversations', conversations)
})

/** The rules that a body breaks, and the texts of the history that it has lost. */
function faultsOf(body: Json, {marks}: History, target: WireTarget): readonly string[] {
  const strict = STRICT.find(({name}) => name === target.strict)!
  const written = JSON.stringify(body)
  const lost = marks.filter(mark => !written.includes(mark))
  return [...refusals(strict, body, target.model), ...lost.map(mark => `lost: ${mark}`)]
}
