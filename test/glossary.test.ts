import {readdirSync, readFileSync} from 'node:fs'
import {basename, join, resolve} from 'node:path'
import {expect, test} from 'vitest'

const root = resolve(import.meta.dirname, '..')
const files = ['src', 'cli'].flatMap(folder =>
  readdirSync(resolve(root, folder), {encoding: 'utf8', recursive: true})
    .filter(file => file.endsWith('.ts'))
    .map(file => join(folder, file)),
)

/** Names that were given up for the terms of the glossary (docs/architecture.md). */
const RETIRED_TYPES = new Set(
  `Around Ask BadReply Cached CallUpstream Came Carry CheckWorld Course DeferredBook Denied Dial Directory Door End Errand ErrandOf ErrandRun Errands
  Exchange Flight Flights FolderShelf GuardServices Guarded GuardedPlace Guards Held HeldEars HeldPassage Hold Holding Incoming Kept Lane LaneEars Leaf
  LeafTarget Limited Live LiveCalls Login Near NeededLogin Outgoing OwnAnswer OwnIdentity Passage PlainRequest PlainResponse Reach Register Relay
  RelaySource Rescued Restoring Retelling Routed Routings Seat Shelf ShelfFull ShelvedFile Soon Spare Standing ToldAnswer Translating Untranslatable
  UploaderNews UploaderOrder Visit Visitor Way Words World Worth`.split(/\s+/),
)
const RETIRED_FILES = new Set(
  `canary carry course errand errands errand-run flusher-link flusher-orders foreign front gather gently held held-by held-passage here holding holds
  kept-from leaving lenient lent letters limited live notices outgoing own-identity passage reader-orders register relay rest restoring retelling
  set-aside shelf space standing standings there uploader-orders used visit worth`.split(/\s+/),
)
/**
 * Exported types of one name in several files that mean the same: a port and what implements it, for layers that may
 * not import each other.
 */
const ONE_MEANING = ['Admission', 'EntityLimit', 'LedgerUsage', 'Limits', 'Prices']

const exported = files.flatMap(file =>
  [
    ...readFileSync(resolve(root, file), 'utf8').matchAll(
      /^export (?:abstract )?(?:class|interface|type) ([A-Z]\w*)/gm,
    ),
  ].map(match => ({
    file,
    name: match[1]!,
  })),
)

test('no type has a name that was given up', () => {
  expect(exported.filter(({name}) => RETIRED_TYPES.has(name))).toEqual([])
})

test('no file has a name that was given up', () => {
  // a check of letters is about letters, and `pricing/kept.ts` keeps prices
  expect(
    files.filter(file => RETIRED_FILES.has(basename(file, '.ts')) && !file.startsWith('src/guardrails/checks/')),
  ).toEqual([])
})

test('an exported type has a name of its own', () => {
  const homes = Map.groupBy(exported, ({name}) => name)
  const shared = [...homes].filter(([, at]) => new Set(at.map(({file}) => file)).size > 1).map(([name]) => name)
  expect(shared.toSorted()).toEqual(ONE_MEANING)
})

/**
 * Verbs that stood for many things: what a request holds, what a provider sent, who was called. A few of them are
 * right, in sentences for people.
 */
const VAGUE_VERBS = /\b(?:said|asked|told)\b/gi
const MAX_VAGUE_VERBS = 200

test('said, asked and told are rare: values have the names of what they are', () => {
  const counts = files.map(file => readFileSync(resolve(root, file), 'utf8').match(VAGUE_VERBS)?.length ?? 0)
  expect(counts.reduce((sum, count) => sum + count, 0)).toBeLessThan(MAX_VAGUE_VERBS)
})
