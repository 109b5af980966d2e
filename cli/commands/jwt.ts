import type {Command} from 'commander'
import {unchecked} from '../client.ts'
import {type Gateway, withGateway} from '../connect.ts'
import {CommandFault, EXIT, usageFault} from '../fault.ts'
import {readMoment, readWhole} from '../option-parsers.ts'
import {fileText, group, leaf} from '../options.ts'
import {structuredFrom} from '../structured.ts'
import {plain} from '../width.ts'

/** `gateway jwt`: tokens of an identity provider, in place of keys. */
export function jwt(): Command {
  return group('jwt', 'Tokens (JWT) that an identity provider signs, in place of keys', [show(), set(), test()])
}

function show(): Command {
  return leaf('show', 'Show by which rules the organisation takes tokens', [
    'gateway jwt show',
    'gateway --organisation blue jwt show --json',
  ]).action((_: object, self: Command) =>
    withGateway(self, async ({call, print}) => {
      const reply = await call('organisation_auth.get')
      print.view(reply, reply.jwt)
    }),
  )
}

interface SetOptions {
  readonly jwksUrl?: string
  readonly jwks?: string
  readonly algorithm?: readonly string[]
  readonly issuer?: string
  readonly audience?: readonly string[]
  readonly skew?: string
  readonly maxLifetime?: string
  readonly revokeBefore?: string
  readonly scope?: readonly string[]
  readonly workspace?: string
  readonly allowWorkspace?: readonly string[]
  readonly allowSubject?: readonly string[]
  readonly off?: true
  readonly on?: true
}

const NONE = 'none'

function set(): Command {
  return leaf('set', 'Change the rules for tokens; what is not named stays, none goes back to the default', [
    'gateway jwt set --jwks-url https://idp.example.com/keys --issuer https://idp.example.com --audience gateway',
    'gateway jwt set --jwks keys.json --algorithm ES256 EdDSA --scope completions.write',
    'gateway jwt set --revoke-before now',
  ])
    .option('--jwks-url <url>', 'where the keys are that sign tokens, or none')
    .option('--jwks <file>', 'JSON or YAML with these keys in place (a JWK set), - for stdin, or none')
    .option('--algorithm <name...>', 'algorithms that are accepted, or none for RS256')
    .option('--issuer <text>', 'iss that every token has, or none')
    .option('--audience <text...>', 'aud of every token is one of them; or none')
    .option('--skew <seconds>', 'how far clocks may differ, or none')
    .option('--max-lifetime <seconds>', 'most time from iat to exp, or none')
    .option('--revoke-before <time>', 'refuse tokens made before: now, a date, or none')
    .option('--scope <scope...>', 'scopes of tokens that name none, or none')
    .option('--workspace <slug>', 'workspace of tokens that name none, or none')
    .option('--allow-workspace <slug...>', 'workspaces that tokens reach; none: all')
    .option('--allow-subject <sub...>', 'subjects whose tokens are taken; none: all')
    .option('--off', 'take no tokens')
    .option('--on', 'take tokens again')
    .action((options: SetOptions, self: Command) =>
      withGateway(self, async gateway => {
        const changes = await changesIn(options, gateway)
        if (!Object.keys(changes).length) throw usageFault('Nothing to change was said.', 'See: gateway jwt set --help')
        const body = unchecked({jwt: changes})
        gateway.print.done(await gateway.call('organisation_auth.update', {body}), 'Changed the rules for tokens.')
      }),
    )
}

async function changesIn(options: SetOptions, {world}: Gateway): Promise<Record<string, unknown>> {
  if (options.on && options.off) throw usageFault('--on and --off exclude each other: give one of them.')
  const {jwks, skew, maxLifetime, revokeBefore} = options
  const changes: Record<string, unknown> = {
    jwks_url: orNone(options.jwksUrl),
    jwks: jwks === undefined || jwks === NONE ? orNone(jwks) : await structuredFrom(world, jwks, '--jwks'),
    algorithms: listOrNone(options.algorithm),
    issuer: orNone(options.issuer),
    audiences: listOrNone(options.audience),
    clock_skew_s: orNone(skew, text => readWhole(text, '--skew', 0, 300)),
    max_lifetime_s: orNone(maxLifetime, text => readWhole(text, '--max-lifetime', 60, 31_536_000)),
    revoked_before: orNone(revokeBefore, text => momentOf(text, world.now())),
    default_scopes: listOrNone(options.scope),
    default_workspace: orNone(options.workspace),
    allowed_workspaces: listOrNone(options.allowWorkspace),
    allowed_subjects: listOrNone(options.allowSubject),
    enabled: options.off ? false : options.on,
  }
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined))
}

function orNone<T = string>(text: string | undefined, read?: (text: string) => T): T | string | null | undefined {
  if (text === undefined) return undefined
  return text === NONE ? null : (read?.(text) ?? text)
}

function listOrNone(list: readonly string[] | undefined): readonly string[] | null | undefined {
  return list?.length === 1 && list[0] === NONE ? null : list
}

function momentOf(text: string, now_ms: number): string {
  return text === 'now' ? new Date(now_ms).toISOString() : readMoment(text, '--revoke-before')
}

interface TestOptions {
  readonly token?: string
}

function test(): Command {
  return leaf(
    'test',
    'Read the key set now, and say what a call with a token would meet. Exits with 1 when it is refused',
    ['gateway jwt test', 'gateway jwt test --token token.txt', 'cat token.txt | gateway jwt test --token - --json'],
  )
    .option('--token <file>', 'file with the token, or - for stdin')
    .action((options: TestOptions, self: Command) =>
      withGateway(self, async gateway => {
        const {call, print} = gateway
        const token = await tokenOf(options.token, gateway)
        const tested = await call('organisation_auth.test', {body: {part: 'jwt', ...(token !== undefined && {token})}})
        if (print.json) print.json_reply(tested)
        else for (const {name, ok, detail} of tested.steps) print.line(plain(`${ok ? '✓' : '✗'} ${name}: ${detail}`))
        if (!tested.ok) throw new CommandFault('Tokens would be refused.', {exit: EXIT.failure, code: 'token_refused'})
      }),
    )
}

async function tokenOf(path: string | undefined, {world}: Gateway): Promise<string | undefined> {
  if (path === undefined) return undefined
  return (path === '-' ? await world.readStdin() : fileText(world, path, '--token')).trim()
}
