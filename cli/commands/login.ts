import {existsSync} from 'node:fs'
import {hostname} from 'node:os'
import {resolve} from 'node:path'
import {type Command, Option} from 'commander'
import {gatewayAddress, nameOfAddress} from '../contexts/address.ts'
import {
  changeContexts,
  contextNamed,
  dropKey,
  type GatewayContext,
  type GatewayContexts,
  isContextName,
  keepKey,
  readContexts,
} from '../contexts/file.ts'
import type {SignInPlace} from '../contexts/sign-in-gateway.ts'
import type {SignedIn} from '../contexts/signed-in.ts'
import {CommandFault, EXIT, usageFault} from '../fault.ts'
import {leaf} from '../options.ts'
import {type CommandSession, openSession} from '../session.ts'
import {plain} from '../width.ts'
import {minute} from './rows.ts'

/** A gateway takes no longer name of a machine. */
const LONGEST_HOST = 200

interface LoginOptions {
  readonly browser?: true
  readonly device?: true
  readonly keyStdin?: true
  readonly name?: string
  readonly caFile?: string
}

/** `gateway login`: signs in at a gateway elsewhere, which commands then work on. */
export function login(): Command {
  return leaf('login', 'Sign in at a gateway, which commands then work on', [
    'gateway login https://gateway.example.com',
    'gateway login https://gateway.example.com --browser --name prod',
    'cat key.txt | gateway login https://gateway.example.com --key-stdin --name ci',
  ])
    .argument('[url]', 'its address; without it, the one of the context, or of GATEWAY_URL')
    .option('--device', 'with a code that is typed in a browser of any machine (default)')
    .addOption(new Option('--browser', 'with the browser of this machine').conflicts('device'))
    .addOption(
      new Option('--key-stdin', 'with an API key from stdin, or typed unseen on a terminal').conflicts([
        'device',
        'browser',
      ]),
    )
    .option('--name <name>', 'what to call the context (default: the host of the address)')
    .option('--ca-file <file>', 'PEM file with authorities to trust there, beside the usual ones')
    .action(async (url: string | undefined, options: LoginOptions, self: Command) => {
      const session = await openSession(self)
      const target = await targetOf(session, url, options)
      const stop = new AbortController()
      const off = session.world.onSignal(() => stop.abort())
      try {
        await signIn(session, target, options, stop.signal)
      } finally {
        off()
      }
    })
}

interface Target {
  readonly name: string
  readonly url: string
  readonly ca_file: string | undefined
}

/** The gateway to sign in at, and the name of its context. A name leads to one gateway, as long as it is kept. */
async function targetOf(
  {options: given, sources}: CommandSession,
  typed: string | undefined,
  {name, caFile}: LoginOptions,
): Promise<Target> {
  if (name !== undefined && !isContextName(name))
    throw usageFault('--name takes small letters, digits, dots and hyphens, 63 at most.')
  const contexts = await readContexts(sources.env)
  const by_name = (wanted: string | null | undefined) => contexts.contexts.find(each => each.name === wanted)
  const known = typed ?? given.url ?? by_name(name)?.url ?? sources.env.GATEWAY_URL
  const text = known || (name === undefined ? by_name(contexts.current)?.url : undefined)
  if (!text) throw usageFault('The address of the gateway is missing.', 'gateway login https://gateway.example.com')
  const url = gatewayAddress(text)
  if (given.url !== undefined && gatewayAddress(given.url) !== url)
    throw usageFault('Two addresses are given; leave --url out.')
  const chosen = name ?? (contextAt(contexts, url)?.name || nameOfAddress(url))
  const there = by_name(chosen)
  if (there && there.url !== url)
    throw new CommandFault(`The context ${chosen} is ${there.url ?? there.data_dir}, and not ${url}.`, {
      exit: EXIT.refused,
      code: 'context_exists',
      next: `Choose another --name, or take it away first: gateway contexts delete ${chosen}`,
    })
  return {name: chosen, url, ca_file: caFile === undefined ? there?.ca_file : resolve(caFile)}
}

function contextAt({current, contexts}: GatewayContexts, url: string): GatewayContext | undefined {
  const there = contexts.filter(each => each.url === url)
  return there.find(({name}) => name === current) ?? there[0]
}

async function signIn(session: CommandSession, target: Target, options: LoginOptions, signal: AbortSignal) {
  const {world, print} = session
  const [{authoritiesIn}, {revokeSession, signedInWith, typedKey}] = await Promise.all([
    import('../contexts/authority.ts'),
    import('../contexts/signed-in.ts'),
  ])
  const place = {url: target.url, ca: authoritiesIn(world, target.ca_file, '--ca-file'), signal}
  if (options.keyStdin) return keep(session, target, await signedInWith(place, await typedKey(world)))
  const host = hostname().slice(0, LONGEST_HOST)
  const {token} = options.browser
    ? await (await import('../contexts/browser.ts')).signInByBrowser(session, place, host)
    : await (await import('../contexts/device.ts')).signInByDevice(world, print, place, host)
  try {
    await keep(session, target, await signedInWith(place, token))
  } catch (fault) {
    // a session that is kept nowhere should not live
    await revokeSession({...place, signal: new AbortController().signal}, token)
    throw fault
  }
}

async function keep({sources, print}: CommandSession, {name, url, ca_file}: Target, signed: SignedIn) {
  const {env} = sources
  const {kind, user, organisation, role, workspace, expires_at} = signed
  const key_file = keepKey(env, name, signed.key)
  const facts = {kind, user, organisation, workspace, expires_at}
  const known = Object.entries({ca_file, key_file, ...facts}).filter(([, value]) => value !== undefined)
  const context: GatewayContext = {name, url, ...Object.fromEntries(known)}
  await changeContexts(env, ({contexts}) => ({
    current: name,
    contexts: [...contexts.filter(each => each.name !== name), context],
  }))
  const place = kind === 'key' ? workspace && `workspace ${workspace}` : organisation && `organisation ${organisation}`
  const whole = place && role ? `${place} (${role})` : place
  const end = expires_at ? ` until ${minute(expires_at)} UTC` : ''
  const sentence = `Logged in to ${name} (${url}) as ${[user, whole].filter(Boolean).join(', ')}${end && `,${end}`}.`
  const {key_file: _, ...shown} = context
  print.made({...shown, role, current: true}, name, plain(sentence))
  const nearer = nearerPlace(env)
  if (nearer) print.note(`Commands here work on ${nearer} all the same; with --context ${name} on this gateway.`)
}

/** Settings that go before the current context. */
function nearerPlace(env: CommandSession['sources']['env']): string | undefined {
  const variable = ['GATEWAY_DATA_DIR', 'GATEWAY_URL'].find(name => env[name])
  return variable ?? (existsSync(resolve('.gateway')) ? './.gateway' : undefined)
}

/** `gateway logout`: ends the session of a context, and takes the context away. */
export function logout(): Command {
  return leaf('logout', 'End the session of a context, and take the context away', [
    'gateway logout',
    'gateway logout --name prod',
  ])
    .argument('[name]', 'which context (default: the current one)')
    .option('--name <name>', 'the same')
    .action(async (typed: string | undefined, {name: named}: {name?: string}, self: Command) => {
      const session = await openSession(self)
      const {sources, options, print, context_named} = session
      if (typed !== undefined && named !== undefined && typed !== named)
        throw usageFault('Two contexts are named; keep one.')
      const contexts = await readContexts(sources.env)
      const wanted = typed ?? named ?? options.context ?? (context_named || contexts.current)
      if (wanted === null)
        throw new CommandFault('There is no current context.', {
          exit: EXIT.not_found,
          code: 'context_not_found',
          next: 'gateway contexts list shows them all.',
        })
      const context = contextNamed(contexts, wanted)
      const is_revoked = await revoked(session, context)
      await forgetContext(sources.env, context)
      const {name, url, data_dir, expires_at} = context
      print.done({name, revoked: is_revoked}, plain(`Logged out of ${name} (${url ?? data_dir}).`))
      if (is_revoked !== false) return
      const end = expires_at ? `at ${minute(expires_at)} UTC` : 'in its own time'
      print.note(`The gateway could not be reached, or did not end the session: it ends ${end}.`)
    })
}

/** Removes the entry of a context and its key. */
export async function forgetContext(env: CommandSession['sources']['env'], context: GatewayContext): Promise<void> {
  dropKey(env, context)
  await changeContexts(env, ({current, contexts}) => ({
    current: current === context.name ? null : current,
    contexts: contexts.filter(({name}) => name !== context.name),
  }))
}

/** True where the gateway ended the session; null where there is none to end: a key works on. */
async function revoked({world, sources}: CommandSession, context: GatewayContext): Promise<boolean | null> {
  const {kind, url, ca_file} = context
  if (kind !== 'session' || url === undefined) return null
  const [{authoritiesIn}, {revokeSession}, {keyOf}] = await Promise.all([
    import('../contexts/authority.ts'),
    import('../contexts/signed-in.ts'),
    import('../contexts/open.ts'),
  ])
  const stop = new AbortController()
  const off = world.onSignal(() => stop.abort())
  try {
    const key = await keyOf(context, sources.env)
    const ca = authoritiesIn(world, ca_file, `ca_file of the context ${context.name}:`)
    const place: SignInPlace = {url: gatewayAddress(url), ca, signal: stop.signal}
    return key !== undefined && (await revokeSession(place, key))
  } catch (fault) {
    if (fault instanceof CommandFault) return false
    throw fault
  } finally {
    off()
  }
}
