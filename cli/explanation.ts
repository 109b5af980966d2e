import type {ExplainedChoice, ExplainedTarget, ExplainedWay, Explanation} from '../src/schema/explanations.ts'
import {plain} from './width.ts'

/**
 * An explanation as a tree of the config. A number is the turn of a target when all before it fail; `→` marks those
 * that the call goes to as it was called, `×` those that refuse. Of conditions `✓` holds, `✗` does not, `·` is not
 * evaluated.
 */
export function explanationLines(explanation: Explanation): string[] {
  const {call, config, seed, at, way, failing, warnings} = explanation
  const facts = [
    `${call.method} ${call.path}`,
    call.endpoint,
    call.model && `model ${call.model}`,
    call.is_stream && 'a stream',
  ]
  const circumstances = [config && `config ${config.slug ?? config.id ?? 'as given'}`, `seed ${seed}`, at && `at ${at}`]
  return [
    facts.filter(Boolean).join(', '),
    circumstances.filter(Boolean).join(', '),
    ...warnings.map(warning => `no effect: ${warning}`),
    '',
    ...treeLines(explanation),
    '',
    `The call: ${wayLine(way)}`,
    ...(failing.visits.length > 1 ? [`When targets fail: ${wayLine(failing)}`] : []),
  ].map(plain)
}

/** `config.targets[0] 429, after 1000 ms 200; answered with 200`. */
export function wayLine({visits, end}: ExplainedWay): string {
  const targets = visits.map(
    ({target, tries}) =>
      `${target} ${tries.map(({wait_ms, status}) => (wait_ms ? `after ${wait_ms} ms ${status}` : status)).join(', ')}`,
  )
  const ending = end.refusal ? `refused with ${end.status}: ${end.refusal.message}` : `answered with ${end.status}`
  return [...targets, ending].join('; ')
}

interface Node {
  readonly title: string
  readonly lines: readonly string[]
  readonly children: Node[]
}

function treeLines({branches, targets, way, failing}: Explanation): string[] {
  const nodes = new Map<string, Node>()
  // The branches of the call itself come first; a branch that only a failure leads to, as it would be.
  const choices = new Map([...choicesOf(failing), ...choicesOf(way)].map(choice => [choice.path, choice]))
  for (const {path, name, mode} of branches) {
    const choice = choices.get(path)
    nodes.set(path, {
      title: `${stepOf(path)} ${nameOf(name)}${mode}`,
      lines: choice ? choiceLines(choice) : [],
      children: [],
    })
  }
  const turns = new Map(failing.visits.map(({target}, index) => [target, index + 1]))
  const wanted = new Set(way.visits.map(({target}) => target))
  for (const target of targets) {
    const mark = target.refusal ? '×' : wanted.has(target.path) ? '→' : ' '
    const title = `${mark} ${turns.get(target.path) ?? '-'} ${stepOf(target.path)} ${nameOf(target.name)}${placeOf(target)}`
    nodes.set(target.path, {title, lines: targetLines(target), children: []})
  }
  const inOrder = [...nodes].sort(([one], [other]) => byPlace(one, other))
  for (const [path, node] of inOrder) nodes.get(parentOf(path))?.children.push(node)
  return linesOf(nodes.get('config')!, '', '')
}

function linesOf({title, lines, children}: Node, first: string, rest: string): string[] {
  const trunk = children.length ? '│ ' : '  '
  return [
    (first + title).trimEnd(),
    ...lines.map(line => `${rest}${trunk}    ${line}`),
    ...children.flatMap((child, index) => {
      const is_last = index === children.length - 1
      return linesOf(child, `${rest}${is_last ? '└─ ' : '├─ '}`, `${rest}${is_last ? '   ' : '│  '}`)
    }),
  ]
}

function choicesOf({visits, because}: ExplainedWay): ExplainedChoice[] {
  return [...visits.flatMap(visit => visit.because), ...because]
}

function choiceLines(choice: ExplainedChoice): string[] {
  if (choice.mode === 'loadbalance') {
    const weights = choice.weights.map(({path, weight}) => `${stepOf(path)} ${weight}`).join(', ')
    const sticky = choice.sticky_key === null ? [] : [`sticky key ${choice.sticky_key}`]
    const drawn = choice.drawn === null ? 'all weights are 0' : `drawn ${choice.drawn.toFixed(6)}`
    return [`weights ${weights}`, `${drawn}${choice.to === null ? '' : `, which is ${stepOf(choice.to)}`}`, ...sticky]
  }
  if (choice.mode !== 'conditional') return []
  const verdicts = choice.conditions.map(
    ({text, holds, to}) => `${holds === null ? '·' : holds ? '✓' : '✗'} ${text}: ${stepOf(to)}`,
  )
  if (choice.conditions.some(({holds}) => holds)) return verdicts
  return [...verdicts, choice.to === null ? 'none holds, and there is no default' : `none holds: ${stepOf(choice.to)}`]
}

function targetLines(target: ExplainedTarget): string[] {
  const {sends, refusal, request_timeout_ms, retry, cache, goes_on, has_circuit} = target
  if (refusal) return [`refuses with ${refusal.status}: ${refusal.message}`, ...goesOnLines(goes_on)]
  const manner = [
    request_timeout_ms === null ? 'no timeout of its own' : `timeout ${request_timeout_ms} ms`,
    retry
      ? `${retry.attempts === 1 ? '1 retry' : `${retry.attempts} retries`} on ${retry.on_status_codes.join(', ')}`
      : 'no retries',
    has_circuit && 'a circuit breaker, taken to be closed',
  ]
  return [
    ...(sends ? [`${sends.method} ${sends.url}`, ...headerLines(sends.headers), ...bodyLines(sends.body)] : []),
    manner.filter(Boolean).join('; '),
    ...(cache.mode === null ? [] : [cacheLine(cache)]),
    ...priceLines(target),
    ...goesOnLines(goes_on),
  ]
}

function headerLines(headers: Readonly<Record<string, string>>): string[] {
  return Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
}

type Body = NonNullable<ExplainedTarget['sends']>['body']

function bodyLines({form, bytes, changes, translated}: Body): string[] {
  if (form === 'none') return ['no body']
  if (form === 'translated') return [`body in the provider's words, ${bytes} bytes: ${JSON.stringify(translated)}`]
  const lines = changes.map(({key, change, value, because}) =>
    change === 'removed'
      ? `  ${key} is removed (${because})`
      : `  ${key} is ${change}: ${JSON.stringify(value)} (${because})`,
  )
  return [`body ${form}, ${bytes} bytes`, ...lines]
}

function cacheLine({mode, status, max_age_s, digest, semantic}: ExplainedTarget['cache']): string {
  if (digest === null) return `cache ${mode}, not for this call`
  const line = `cache ${mode}, ${status}, ${max_age_s} s, key ${digest}`
  if (!semantic) return line
  return semantic.searches
    ? `${line}; other words by ${semantic.embedder} from ${semantic.threshold}`
    : `${line}; no other words: ${semantic.because}`
}

function priceLines({price, unpriced}: ExplainedTarget): string[] {
  if (unpriced) return ['unpriced']
  if (!price) return []
  const {input, output} = price.usd_per_million_tokens
  const rates = [input !== undefined && `$${input} in`, output !== undefined && `$${output} out`].filter(Boolean)
  return [rates.length ? `${rates.join(', ')} a million tokens (${price.source})` : `priced by units (${price.source})`]
}

function goesOnLines(goes_on: ExplainedTarget['goes_on']): string[] {
  return goes_on.map(
    ({on_status_codes: codes, to}) => `on ${codes ? codes.join(', ') : 'any status but 2xx'} then ${to}`,
  )
}

function placeOf({managed, provider, model}: ExplainedTarget): string {
  const name = managed ? `@${managed}` : (provider ?? '')
  return model === null ? name : `${name}/${model}`
}

function nameOf(name: string | null): string {
  return name === null ? '' : `${JSON.stringify(name)} `
}

/** The last step of a path: `targets[1]`. */
function stepOf(path: string): string {
  return path.slice(path.lastIndexOf('.') + 1)
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('.')))
}

/** By the numbers in two paths, as they are written in the config. */
function byPlace(one: string, other: string): number {
  const [ours, theirs] = [one, other].map(path => [...path.matchAll(/\d+/g)].map(Number)) as [number[], number[]]
  const differs = ours.findIndex((index, depth) => index !== theirs[depth])
  return differs < 0 ? ours.length - theirs.length : ours[differs]! - (theirs[differs] ?? -1)
}
