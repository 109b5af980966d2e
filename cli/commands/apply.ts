import type {Command} from 'commander'
import {type Gateway, withGateway} from '../connect.ts'
import type {Environment} from '../environment.ts'
import {CommandFault, usageFault} from '../fault.ts'
import {confirmed, leaf, withConfirm} from '../options.ts'
import type {Printer} from '../print.ts'
import {progressOn} from '../progress.ts'
import type {ApplyStep} from '../resources/plan.ts'
import {plain} from '../width.ts'

interface ApplyOptions {
  readonly file: string
  readonly dryRun?: true
  readonly prune?: true
  readonly kind?: readonly string[]
  readonly secrets?: true
  readonly keysFile?: string
  readonly yes?: true
}

/** `gateway apply`: brings the gateway to what files say. */
export function applyCommand(): Command {
  return withConfirm(
    leaf('apply', 'Bring the gateway to what YAML files say; what differs is shown', [
      'gateway apply -f resources --dry-run',
      'gateway apply -f resources --prune --yes',
    ])
      .requiredOption('-f, --file <folder>', 'folder with the files, or one file')
      .option('--dry-run', 'check everything and show what differs, and change nothing')
      .option('--prune', 'take away what is not in the files, of the kinds that the files hold')
      .option('--kind <kind...>', 'only these kinds; with --prune also those of which no file is left')
      .option('--secrets', 'write every secret that has a value, also those that look as they are')
      .option('--keys-file <file>', 'new file for the secrets of API keys that are made (default: stdout)'),
  ).action((options: ApplyOptions, self: Command) => withGateway(self, gateway => applyAll(gateway, options)))
}

async function applyAll(gateway: Gateway, options: ApplyOptions): Promise<void> {
  const [{snapshot}, {planOf, applySteps, kindsNamed}, {readFolder, textIf}, {called}] = await Promise.all([
    import('../resources/snapshot.ts'),
    import('../resources/plan.ts'),
    import('../resources/folder.ts'),
    import('../resources/document.ts'),
  ])
  const {world, print} = gateway
  const {keysFile} = options
  if (keysFile !== undefined && textIf(world, keysFile) !== undefined)
    throw usageFault(`${keysFile} is there already and is left as it is.`)
  const only = options.kind && kindsNamed(options.kind)
  const resources = readFolder(world, options.file).filter(({kind}) => !only || only.has(kind))
  if (!resources.length && !only) throw usageFault(`There are no resources in ${options.file}.`)
  const kinds = only ?? new Set(resources.map(({kind}) => kind))
  const now = await snapshot(gateway, kinds)
  const {env} = await world.sources({})
  const sources = {env, readFile: world.readFile, rewrites: options.secrets === true, seen: new Set<string>()}
  const prunes = options.prune ? kinds : undefined
  const own_key = prunes?.has('api-key') ? await ownKey(gateway) : undefined
  const steps = await planOf(resources, now, {sources, prunes, own_key})
  if (!print.json) printSteps(print, steps, called)
  if (options.dryRun || !steps.length)
    return print.done(
      replyOf(steps, called, false),
      steps.length
        ? `${countsOf(steps, 'planned')} Nothing was changed.`
        : `${resources.length} resources: nothing differs.`,
    )
  const gone = steps.filter(({action}) => action === 'delete').length
  if (gone) await confirmed(world, `Apply this, and take away ${gone} of what the gateway has`, options)
  const progress = progressOn(world, print)
  const keys: [string, string][] = []
  let applied = false
  try {
    await applySteps(steps, now, ({resource}, at, detail) => {
      progress.step(at + 1, steps.length, called(resource))
      if (detail !== undefined) keys.push([called(resource), detail])
    })
    // A workspace comes with providers of what is open to all: they are seen now alone.
    if (prunes && steps.some(({action, kind}) => action === 'create' && kind.name === 'workspace')) {
      const after = await snapshot(gateway, kinds)
      const rest = await planOf(resources, after, {sources, prunes, own_key})
      await applySteps(
        rest.filter(({action}) => action === 'delete'),
        after,
        () => undefined,
      )
    }
    applied = true
  } finally {
    progress.end()
    const untold = tellKeys(world, print, keys, keysFile)
    const reply = {...replyOf(steps, called, applied), ...(untold.length && {keys: Object.fromEntries(untold)})}
    // Rows that were made before a failure show their keys too: they are shown this once.
    if (applied) print.done(reply, countsOf(steps, 'done'))
    else if (print.json && untold.length) print.json_reply(reply)
  }
}

/** The id of the API key that asks; undefined where none does. */
async function ownKey(gateway: Gateway): Promise<string | undefined> {
  try {
    return (await gateway.call('api_keys.self')).id
  } catch (fault) {
    if (fault instanceof CommandFault && fault.status !== null) return undefined
    throw fault
  }
}

type Called = (resource: ApplyStep['resource']) => string

function replyOf(steps: readonly ApplyStep[], called: Called, applied: boolean) {
  const changes = steps.map(({action, resource, differences}) => ({
    action,
    resource: called(resource),
    ...(action !== 'delete' && {file: resource.file}),
    ...(action === 'update' && {differences}),
  }))
  return {applied, changes}
}

const SIGNS = {create: ['+', '32'], update: ['~', '33'], delete: ['-', '31']} as const
const LONGEST = 60

function printSteps(print: Printer, steps: readonly ApplyStep[], called: Called) {
  for (const {action, resource, differences} of steps) {
    const [sign, color] = SIGNS[action]
    const line = `${sign} ${plain(called(resource))}`
    print.line(print.color ? `\x1b[${color}m${line}\x1b[0m` : line)
    if (!print.quiet)
      for (const {path, before, after} of differences)
        print.line(`    ${plain(path)}: ${short(before)} → ${short(after)}`)
  }
}

function short(value: unknown): string {
  if (value === undefined) return '(none)'
  const text = plain(typeof value === 'string' ? value : JSON.stringify(value))
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}...` : text
}

const WORDS = {planned: ['to make', 'to change', 'to take away'], done: ['made', 'changed', 'taken away']} as const

function countsOf(steps: readonly ApplyStep[], state: keyof typeof WORDS): string {
  const counted = (['create', 'update', 'delete'] as const).map((action, at) => {
    const count = steps.filter(step => step.action === action).length
    return `${count} ${WORDS[state][at]}`
  })
  return `${counted.join(', ')}.`
}

/**
 * Tells the secrets of new keys: in the file, or where it cannot be written, and without one, on stdout. Gives what is
 * left for a reply in JSON.
 */
function tellKeys(
  world: Environment,
  print: Printer,
  keys: readonly CreatedKey[],
  file: string | undefined,
): readonly CreatedKey[] {
  if (!keys.length) return []
  if (file !== undefined) {
    try {
      world.writeNewFile(file, keys.map(([name, key]) => `${name}: ${key}\n`).join(''), true)
      print.note(`The secrets of ${keys.length} new API keys are in ${file}; they are not told again.`)
      return []
    } catch {
      print.note(`${file} cannot be written.`)
    }
  }
  if (!print.json) for (const [name, key] of keys) print.line(`${plain(name)}: ${key}`)
  return keys
}

type CreatedKey = readonly [name: string, key: string]
