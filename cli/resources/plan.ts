import {isObject} from '../../src/base/json-object.ts'
import {explain, fieldPath} from '../../src/schema/validation-message.ts'
import {CommandFault, EXIT, usageFault} from '../fault.ts'
import {type Address, called, mapTexts, type Resource, type Spec, same} from './document.ts'
import {bodyOf, type ExistingResource, normal, type ResourceKind, specOf} from './kind.ts'
import {KINDS} from './kinds.ts'
import {resolved, type SecretSources} from './secrets.ts'
import type {Snapshot} from './snapshot.ts'

/** One member that differs, as it may be shown. */
export interface MemberDifference {
  readonly path: string
  readonly before: unknown
  readonly after: unknown
}

/** One thing to do. */
export interface ApplyStep {
  readonly action: 'create' | 'update' | 'delete'
  readonly kind: ResourceKind
  readonly resource: Resource
  readonly found?: ExistingResource
  /** Fields of `spec` that differ. */
  readonly changed: readonly string[]
  readonly differences: readonly MemberDifference[]
}

export interface PlanOptions {
  readonly sources: SecretSources
  /** Removes resources that are not in the files, of the kinds named; undefined: removes none. */
  readonly prunes?: ReadonlySet<string> | undefined
  /** The calling API key: it is never removed. */
  readonly own_key?: string | undefined
}

const MAX_FAULTS = 20
/** Stands for a secret where values are shown. */
const SECRET = '(secret)'

/**
 * The steps that make the gateway equal `resources`, in order. Everything is checked; all faults are reported at once.
 */
export async function planOf(
  resources: readonly Resource[],
  now: Snapshot,
  options: PlanOptions,
): Promise<ApplyStep[]> {
  const faults: string[] = []
  const files = byName(resources, faults)
  const there = new Map(now.found.map(each => [called(each), each]))
  const pruned = new Set(
    now.found
      .filter(each => options.prunes?.has(each.kind) && !files.has(called(each)) && each.id !== options.own_key)
      .map(called),
  )
  const known = (address: Address) => {
    const name = called(address)
    if (now.closed.has(address.kind)) return {...address, spec: {}}
    return files.get(name) ?? (pruned.has(name) ? undefined : there.get(name))
  }
  const steps: ApplyStep[] = []
  for (const kind of KINDS)
    for (const resource of outermostFirst(
      kind,
      resources.filter(each => each.kind === kind.name),
    )) {
      const judged = await judge(kind, resource, now, there, known, options.sources)
      faults.push(...judged.faults.map(words => `${resource.file}: ${words}`))
      if (judged.step) steps.push(judged.step)
    }
  if (faults.length) {
    const some = faults.slice(0, MAX_FAULTS)
    if (faults.length > MAX_FAULTS) some.push(`And ${faults.length - MAX_FAULTS} more.`)
    throw new CommandFault(some.join('\n'), {exit: EXIT.usage, code: 'resources', next: 'Nothing was changed.'})
  }
  return [...steps, ...removals(now, pruned)]
}

function byName(resources: readonly Resource[], faults: string[]): Map<string, Resource> {
  const files = new Map<string, Resource>()
  for (const resource of resources) {
    const name = called(resource)
    const other = files.get(name)
    if (other) faults.push(`${resource.file}: ${name} is in ${other.file} already.`)
    if (!KINDS.some(kind => kind.name === resource.kind))
      faults.push(
        `${resource.file}: kind: there is no kind ${resource.kind.slice(0, 80)}; expected one of ${KINDS.map(kind => kind.name).join(', ')}.`,
      )
    files.set(name, resource)
  }
  return files
}

async function judge(
  kind: ResourceKind,
  given: Resource,
  now: Snapshot,
  there: ReadonlyMap<string, ExistingResource>,
  known: (address: Address) => Resource | undefined,
  sources: SecretSources,
): Promise<{faults: readonly string[]; step?: ApplyStep}> {
  const misplaced = placeFault(kind, given, known, now)
  if (misplaced) return {faults: [misplaced]}
  const unknown = Object.keys(given.spec).filter(name => !Object.hasOwn(kind.fields, name))
  if (unknown.length)
    return {
      faults: [`spec.${unknown[0]!.slice(0, 80)}: is not known; expected ${Object.keys(kind.fields).join(', ')}.`],
    }
  const found = there.get(called(given))
  let sent: Resource
  try {
    sent = {...given, spec: resolved(given, kind.secrets, found?.spec, sources)}
  } catch (fault) {
    if (!(fault instanceof CommandFault)) throw fault
    return {faults: [`${fault.message.slice(`${given.file}: `.length)} ${fault.next ?? ''}`.trim()]}
  }
  const refused = schemaFault(kind, sent, now)
  if (refused) return {faults: [refused]}
  const faults = ((await kind.faults?.(sent, known, now.place)) ?? []).map(words =>
    `spec.${words}.`.replace(/([.?])\.$/, '$1'),
  )
  if (faults.length) return {faults}
  sent = {...sent, spec: specOf(kind.fields, sent.spec)}
  if (!found) return {faults: [], step: {action: 'create', kind, resource: sent, changed: [], differences: []}}
  const changed = Object.keys(kind.fields).filter(
    name => !same(sent.spec[name], normal(kind.fields[name]!, found.spec[name], found.spec)),
  )
  const fixed = changed.find(name => kind.fields[name]!.is_fixed)
  if (fixed) return {faults: [`spec.${fixed}: cannot be changed: take the ${kind.name} away and make it anew.`]}
  if (!changed.length) return {faults: []}
  const differences = changed.flatMap(name => differ(shown(sent.spec[name], sources.seen), found.spec[name], [name]))
  return {faults: [], step: {action: 'update', kind, resource: sent, found, changed, differences}}
}

function placeFault(
  kind: ResourceKind,
  {workspace, slug, ...rest}: Resource,
  known: (address: Address) => Resource | undefined,
  now: Snapshot,
): string | undefined {
  if (now.closed.has(kind.name)) return `kind: this key may not work on a ${kind.name}.`
  if (kind.lives_in === 'workspace' && workspace === null) return 'workspace: is required.'
  if (kind.lives_in === 'organisation' && workspace !== null) return `workspace: a ${kind.name} is of the organisation.`
  if (workspace !== null && !known({kind: 'workspace', workspace: null, slug: workspace}))
    return `workspace: there is no workspace ${workspace.slice(0, 80)}.`
  const name = called({kind: rest.kind, workspace, slug})
  if (now.doubled.has(name))
    return `slug: the gateway has several with the name of ${name}: give each a name of its own there.`
  const elsewhere =
    kind.is_slug_unique &&
    now.found.find(each => each.kind === kind.name && each.slug === slug && each.workspace !== workspace)
  return elsewhere ? `slug: ${called(elsewhere)} has it.` : undefined
}

/** Why the body that would make the resource is refused, by the operation's own schema. */
function schemaFault(kind: ResourceKind, resource: Resource, {place}: Snapshot): string | undefined {
  const schema = place.gateway.operations.find(({id}) => id === kind.create)?.body
  if (!schema) return undefined
  const body = (kind.body ?? bodyOf)(resource, place)
  const read = schema.safeParse(body)
  return read.error && explain(read.error, schema, body, {root: 'spec', before: 'spec.'})
}

/** A value as it may be shown: without what was read as a secret. */
function shown(sent: unknown, secrets: ReadonlySet<string>): unknown {
  return mapTexts(sent, text => (secrets.has(text) ? SECRET : text))
}

function differ(after: unknown, before: unknown, path: readonly (string | number)[]): MemberDifference[] {
  if (same(after, before)) return []
  if (after === SECRET) return [{path: fieldPath(path), before: before === undefined ? undefined : SECRET, after}]
  const lists = Array.isArray(after) && Array.isArray(before)
  if (!lists && !(isObject(after) && isObject(before))) return [{path: fieldPath(path), before, after}]
  const keys = lists
    ? [...Array(Math.max(after.length, before.length)).keys()]
    : [...new Set([...Object.keys(before as Spec), ...Object.keys(after as Spec)])]
  return keys.flatMap(key => differ((after as Spec)[key], (before as Spec)[key], [...path, key]))
}

/** Those of a kind in order, each after those that it needs. */
function outermostFirst<T extends Resource>(kind: ResourceKind, resources: readonly T[]): readonly T[] {
  if (!kind.within) return resources
  const by_name = new Map(resources.map(each => [called(each), each]))
  const ordered = new Set<T>()
  const add = (resource: T, seen: ReadonlySet<T>) => {
    for (const slug of kind.within?.(resource) ?? []) {
      const outer = by_name.get(called({...resource, slug}))
      if (outer && !seen.has(outer)) add(outer, new Set([...seen, outer]))
    }
    ordered.add(resource)
  }
  for (const each of resources) add(each, new Set([each]))
  return [...ordered]
}

/** The resources to remove, dependants first. */
function removals({found, place}: Snapshot, pruned: ReadonlySet<string>): ApplyStep[] {
  return KINDS.toReversed().flatMap(kind =>
    outermostFirst(
      kind,
      found.filter(each => each.kind === kind.name && pruned.has(called(each)) && !kind.stays?.(each, place)),
    )
      .toReversed()
      .map(each => ({action: 'delete' as const, kind, resource: each, found: each, changed: [], differences: []})),
  )
}

/** Does the steps in order, and says after each that it is done; a failure says how far it came. */
export async function applySteps(
  steps: readonly ApplyStep[],
  now: Snapshot,
  done: (step: ApplyStep, at: number, detail: string | undefined) => void,
) {
  for (const [at, step] of steps.entries()) {
    const {kind, resource, found, changed, action} = step
    try {
      const detail =
        action === 'create'
          ? await kind.make(now.place, resource)
          : await (action === 'update'
              ? kind.change(now.place, resource, found!, changed)
              : kind.remove(now.place, found!))
      done(step, at, detail ?? undefined)
    } catch (cause) {
      if (!(cause instanceof CommandFault)) throw cause
      const where = action === 'delete' ? '' : ` (${resource.file})`
      const so_far =
        at === 0 ? 'Nothing was changed before it.' : `${at} of ${steps.length} changes are done; the others are not.`
      throw new CommandFault(`${called(resource)}${where}: ${cause.message}`, {
        exit: cause.exit,
        code: cause.code,
        ...(cause.status !== null && {status: cause.status}),
        next: `${so_far} Apply again to go on.`,
        cause,
      })
    }
  }
}

/** The kinds that were named, by name or folder. */
export function kindsNamed(names: readonly string[]): ReadonlySet<string> {
  const wrong = names.find(name => !KINDS.some(kind => kind.name === name || kind.folder === name))
  if (wrong !== undefined)
    throw usageFault(
      `There is no kind ${wrong.slice(0, 80)}.`,
      `There are: ${KINDS.map(kind => kind.name).join(', ')}.`,
    )
  return new Set(KINDS.filter(kind => names.includes(kind.name) || names.includes(kind.folder)).map(kind => kind.name))
}
