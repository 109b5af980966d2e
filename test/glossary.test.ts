import {readdirSync, readFileSync} from 'node:fs'
import {basename, join, resolve} from 'node:path'
import {expect, test} from 'vitest'
import {parseAst} from 'vitest/node'

const root = resolve(import.meta.dirname, '..')
const filesOf = (folder: string) =>
  readdirSync(resolve(root, folder), {encoding: 'utf8', recursive: true})
    .filter(file => file.endsWith('.ts'))
    .map(file => join(folder, file))
const textOf = (file: string) => readFileSync(resolve(root, file), 'utf8')
const files = ['src', 'cli'].flatMap(filesOf)
const tests = filesOf('test')

/** Names that were given up for the terms of the glossary (docs/architecture.md). */
const RETIRED_TYPES = new Set(
  `Around Ask AttemptHost BadReply Cached CallUpstream Came Carry CheckWorld Course DeferredBook Denied Dial
  Directory Door End Errand ErrandOf ErrandRun Errands Exchange Flight Flights FolderShelf GuardServices Guarded
  GuardedPlace Guards Held HeldEars HeldPassage Hold HoldParts Holding ImaginedCall Incoming Kept KeptPrices
  Lane LaneEars Later Leaf LeafTarget Limited LinePool Live LiveCalls Login Near NeededLogin Outgoing OwnAnswer
  OwnIdentity Passage PlainRequest PlainResponse Reach Register Relay RelaySource Rescued Restoring Retelling
  Routed Routings Seat Seeking Shelf ShelfFull ShelvedFile Soon Spare Standing Tally ToldAnswer Translating
  Untranslatable UploaderNews UploaderOrder Visit Visitor Way Words World Worth`.split(/\s+/),
)
const RETIRED_FILES = new Set(
  `canary carry course errand errand-run errands flight flusher-link flusher-orders foreign front frugal gather
  gently held held-by held-passage here holding holds kept-from leaving lenient lent letters limited live
  notices outgoing own-identity passage reader-orders realtime-lane realtime-place register relay rest restoring
  retelling routine set-aside shelf space stages standing standings tally there told uploader-orders used visit
  worth`.split(/\s+/),
)
/**
 * Exported types of one name in several files that mean the same: a port and what implements it, for layers that may
 * not import each other.
 */
const ONE_MEANING = ['Admission', 'EntityLimit', 'LedgerUsage', 'Limits', 'Prices']

const exported = files.flatMap(file =>
  [...textOf(file).matchAll(/^export (?:abstract )?(?:class|interface|type) ([A-Z]\w*)/gm)].map(match => ({
    file,
    name: match[1]!,
  })),
)

test('no type has a name that was given up', () => {
  expect(exported.filter(({name}) => RETIRED_TYPES.has(name))).toEqual([])
  // tests declare types without exporting them
  const declared = tests.flatMap(file =>
    [...textOf(file).matchAll(/^\s*(?:export )?(?:abstract )?(?:class|interface|type) ([A-Z]\w*)/gm)].map(match => ({
      file,
      name: match[1]!,
    })),
  )
  expect(declared.length).toBeGreaterThan(100)
  expect(declared.filter(({name}) => RETIRED_TYPES.has(name))).toEqual([])
})

test('no file has a name that was given up', () => {
  // a check of letters is about letters
  expect(
    [...files, ...tests].filter(
      file => RETIRED_FILES.has(basename(file).split('.', 1)[0]!) && !file.startsWith('src/guardrails/checks/'),
    ),
  ).toEqual([])
})

test('an exported type has a name of its own', () => {
  const homes = Map.groupBy(exported, ({name}) => name)
  const shared = [...homes].filter(([, at]) => new Set(at.map(({file}) => file)).size > 1).map(([name]) => name)
  expect(shared.toSorted()).toEqual(ONE_MEANING)
})

const BUILT_IN = /^(?:Syntax|Range|Type)?Error$/
/** Classes that extend another, with the names that they give themselves. */
const classes = ['src', 'cli', 'bin'].flatMap(filesOf).flatMap(file =>
  textOf(file)
    .split(/^(?=(?:export )?(?:abstract )?class )/m)
    .map(text => ({file, text, head: /^(?:export )?(?:abstract )?class (\w+)(?:<.*?>)? extends (\w+)/.exec(text)}))
    .filter(({head}) => head !== null)
    .map(({file, text, head}) => ({
      file,
      name: head![1]!,
      parent: head![2]!,
      given: /(?:this\.|override (?:readonly )?)name = '(\w+)'/.exec(text.split(/^\}$|\{\}$/m, 1)[0]!)?.[1],
    })),
)

test('an error is a fault by its name, apart from the refusals that clients read', () => {
  const errors = classes.filter(({name}) => isError(name))
  expect(errors.length).toBeGreaterThan(35)
  expect(errors.filter(({name}) => !name.endsWith('Fault') && !isRefusal(name))).toEqual([])
  expect(errors.filter(({name, given}) => given !== undefined && given !== name)).toEqual([])
})

test('what a comment says is thrown exists', () => {
  const names = new Set(classes.map(({name}) => name))
  const thrown = ['src', 'cli', 'bin', 'test'].flatMap(filesOf).flatMap(file => {
    const text = textOf(file).replace(/\n\s*(?:\*|\/\/) /g, ' ')
    return [...text.matchAll(/\bThrows (?:an? )?`?([A-Z]\w+)/g)].map(match => ({file, name: match[1]!}))
  })
  expect(thrown.length).toBeGreaterThan(30)
  expect(thrown.filter(({name}) => !names.has(name) && !BUILT_IN.test(name))).toEqual([])
})

function parentOf(name: string): string | undefined {
  return classes.find(each => each.name === name)?.parent
}

function isError(name: string | undefined): boolean {
  return name !== undefined && (BUILT_IN.test(name) || isError(parentOf(name)))
}

function isRefusal(name: string | undefined): boolean {
  return name === 'Refusal' || (name !== undefined && isRefusal(parentOf(name)))
}

/**
 * Verbs that stood for many things: what a request holds, what a provider sent, who was called. A few of them are
 * right, in sentences for people.
 */
const VAGUE_VERBS = /\b(?:said|asked|told)\b/gi
const MAX_VAGUE_VERBS = 200

test('said, asked and told are rare: values have the names of what they are', () => {
  const counts = files.map(file => textOf(file).match(VAGUE_VERBS)?.length ?? 0)
  expect(counts.reduce((sum, count) => sum + count, 0)).toBeLessThan(MAX_VAGUE_VERBS)
})

/** The same in tests, as names of values; texts keep their words. The number may only fall. */
const MAX_VAGUE_TEST_NAMES = 2359

test('told, said and heard become fewer as names in tests', () => {
  const counts = tests.map(file => namesIn(textOf(file)).filter(name => /^(?:told|said|heard)$/.test(name)).length)
  expect(counts.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(MAX_VAGUE_TEST_NAMES)
})

/** Identifiers of a file that may have one of them, each as often as it is there. */
function namesIn(text: string): string[] {
  const names: string[] = []
  if (!/\b(?:told|said|heard)\b/.test(text)) return names
  visit(parseAst(text, {lang: 'ts'}))
  return names

  function visit(node: unknown) {
    if (Array.isArray(node)) for (const each of node) visit(each)
    if (typeof node !== 'object' || node === null || !('type' in node)) return
    if (node.type === 'Identifier' && 'name' in node && typeof node.name === 'string') names.push(node.name)
    for (const member of Object.values(node)) visit(member)
  }
}
