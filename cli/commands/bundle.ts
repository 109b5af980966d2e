import type {Command} from 'commander'
import {BundleFault, makeBundleKeys, openBundle, writeBundle} from '../../src/base/bundle.ts'
import {type Unchecked, unchecked} from '../client.ts'
import {withGateway} from '../connect.ts'
import type {Environment} from '../environment.ts'
import {CommandFault, EXIT, usageFault} from '../fault.ts'
import {readJson, readWhole} from '../option-parsers.ts'
import {fileText, group, leaf} from '../options.ts'
import {countsOf, type Diff, printDiff} from '../price-diff.ts'
import {
  applyBundle,
  type KeyOption,
  printInstalled,
  printWithdrawn,
  publicKeyOf,
  withPublicKey,
} from '../price-install.ts'
import {readSource} from '../price-source.ts'
import {progressOn} from '../progress.ts'
import {type CommandSession, openSession} from '../session.ts'

/** `gateway bundle`: prices signed at one place and carried by hand to another. */
export function bundle(): Command {
  return group('bundle', 'Signed bundles of prices, for gateways without a network', [
    keygen(),
    create(),
    verify(),
    apply(),
    rollback(),
  ])
}

function keygen(): Command {
  return leaf('keygen', 'Make a pair of keys: one signs bundles, the other is given to gateways', [
    'gateway bundle keygen --out prices',
  ])
    .requiredOption('--out <name>', 'writes NAME.key, which is secret, and NAME.pub')
    .action(async ({out}: {readonly out: string}, self: Command) => {
      const {world, print} = await openSession(self)
      const {public_key, private_key, key_id} = makeBundleKeys()
      written(world, `${out}.key`, private_key, true)
      written(world, `${out}.pub`, public_key)
      print.made(
        {key_id, private_key_file: `${out}.key`, public_key_file: `${out}.pub`},
        `${out}.pub`,
        `Key ${key_id}: ${out}.key signs bundles and stays here; ${out}.pub goes to the gateways.`,
      )
    })
}

interface CreateOptions {
  readonly key: string
  readonly out: string
  readonly prices?: string
  readonly provider?: readonly string[]
  readonly serial?: string
  readonly note?: string
}

function create(): Command {
  return leaf('create', 'Sign a bundle of prices', [
    'gateway bundle create --key prices.key --out prices.bundle',
    'gateway bundle create --prices ./prices --key prices.key --out prices.bundle --note "December"',
  ])
    .requiredOption('--key <file>', 'secret key to sign with')
    .requiredOption('--out <file>', 'bundle to write')
    .option('--prices <source>', 'URL, directory or list (default: the prices inside this program)')
    .option('--provider <kind...>', 'providers to ask a pricing service for')
    .option('--serial <n>', 'number of the bundle, above that of the one before (default: the seconds since 1970)')
    .option('--note <text>', 'what is said of it')
    .action(async (options: CreateOptions, self: Command) => {
      const session = await openSession(self)
      const {world, print} = session
      const prices = await listOf(session, options)
      const read = await checkedList(prices)
      const serial =
        options.serial === undefined
          ? Math.floor(world.now() / 1000)
          : readWhole(options.serial, '--serial', 1, Number.MAX_SAFE_INTEGER)
      const created_at = new Date(world.now()).toISOString()
      const contents = [{kind: 'prices', content: prices}]
      const key = fileText(world, options.key, '--key')
      const {text, key_id} = guarded(() => writeBundle({serial, created_at, note: options.note ?? '', contents}, key))
      written(world, options.out, text)
      print.made(
        {serial, key_id, created_at, prices: read, file: options.out},
        options.out,
        `${options.out}: serial ${serial}, ${read} prices, signed with the key ${key_id}.`,
      )
    })
}

async function listOf(session: CommandSession, {prices, provider = []}: CreateOptions): Promise<unknown> {
  if (prices === undefined) {
    const {bundledList} = await import('../../src/pricing/catalogue.ts')
    return {format: 'gateway-prices/1', ...bundledList()}
  }
  const {settings} = await session.settings()
  const progress = progressOn(session.world, session.print)
  const source = await readSource(session.world, prices, {providers: provider, progress, settings}).finally(() =>
    progress.end(),
  )
  if (source.kind === 'bundle') throw usageFault(`${prices} is a bundle already.`)
  return source.prices
}

/** How many prices the list has; one that no gateway would take is not signed. */
async function checkedList(list: unknown): Promise<number> {
  const [{PriceListBody}, {readPriceList}, {PricingConfigFault}, {explain}] = await Promise.all([
    import('../../src/schema/price-lists.ts'),
    import('../../src/pricing/list.ts'),
    import('../../src/pricing/config.ts'),
    import('../../src/schema/validation-message.ts'),
  ])
  const parsed = PriceListBody.safeParse(list)
  if (!parsed.success) throw usageFault(explain(parsed.error, PriceListBody, list, {root: 'the list of prices'}))
  try {
    return readPriceList(parsed.data, 'bundle').prices.length
  } catch (error) {
    if (!(error instanceof PricingConfigFault)) throw error
    throw usageFault(`${error.message}.`)
  }
}

interface VerifyOptions extends KeyOption {
  readonly offline?: true
  readonly all?: true
}

interface Verified {
  readonly serial: number
  readonly created_at: string
  readonly note: string
  readonly key_id: string
  readonly prices: Diff | null
}

function verify(): Command {
  return withPublicKey(
    leaf('verify', 'Check who signed a bundle, that it is whole and new, and what it would change', [
      'gateway bundle verify prices.bundle --public-key prices.pub',
      'gateway bundle verify prices.bundle --public-key prices.pub --offline',
    ]),
  )
    .argument('<file>', 'the bundle')
    .option('--offline', 'check the signature alone, without a gateway')
    .option('--all', 'show every change')
    .action(async (file: string, options: VerifyOptions, self: Command) => {
      if (options.offline) return verifyHere(file, options, self)
      await withGateway(self, async gateway => {
        const {call, print, world} = gateway
        const verification = await call('bundles.verify', {
          body: {bundle: bundleIn(world, file), ...publicKeyOf(gateway, options)},
        })
        if (print.json) return print.json_reply(verification)
        if (verification.prices) printDiff(print, verification.prices, {whole: options.all === true})
        print.line(
          `${sentence(verification)} ${verification.prices ? `${countsOf(verification.prices)}. ` : ''}Nothing was installed.`,
        )
      })
    })
}

async function verifyHere(file: string, {publicKey}: VerifyOptions, self: Command): Promise<void> {
  const {world, print} = await openSession(self)
  if (publicKey === undefined)
    throw usageFault('--offline needs --public-key: no gateway is asked for the keys it trusts.')
  const {bundle, key_id} = guarded(() => openBundle(bundleIn(world, file), fileText(world, publicKey, '--public-key')))
  const {contents: _, ...fields} = bundle
  print.done({...fields, key_id}, sentence({...fields, key_id}))
}

function sentence({serial, created_at, key_id, note}: Omit<Verified, 'prices'>): string {
  return `The bundle is whole: serial ${serial}, made on ${created_at}, signed with the key ${key_id}${note ? ` (${note})` : ''}.`
}

interface ApplyOptions extends KeyOption {
  readonly all?: true
}

function apply(): Command {
  return withPublicKey(
    leaf('apply', 'Install a bundle: all of it or nothing', [
      'gateway bundle apply prices.bundle --public-key prices.pub',
    ]),
  )
    .argument('<file>', 'the bundle')
    .option('--from <time>', 'when its prices begin to hold: 2030-12-31, or a time with its zone (default: now)')
    .option('--all', 'show every change')
    .action((file: string, options: ApplyOptions, self: Command) =>
      withGateway(self, async gateway => {
        const source = {kind: 'bundle', bundle: bundleIn(gateway.world, file), origin: file.slice(-255)} as const
        const progress = progressOn(gateway.world, gateway.print)
        progress.step(0, 1, 'writing')
        printInstalled(gateway, await applyBundle(gateway, source, options).finally(() => progress.end()), options)
      }),
    )
}

function rollback(): Command {
  return leaf('rollback', 'Withdraw the bundle that was installed last; what was charged stays', [
    'gateway bundle rollback',
  ]).action((_: unknown, self: Command) =>
    withGateway(self, async gateway => printWithdrawn(gateway, await gateway.call('bundles.rollback', {body: {}}))),
  )
}

function bundleIn(world: Environment, file: string): Unchecked {
  return unchecked(readJson(fileText(world, file, 'The bundle'), `What ${file} holds`))
}

function guarded<T>(work: () => T): T {
  try {
    return work()
  } catch (cause) {
    if (!(cause instanceof BundleFault)) throw cause
    throw new CommandFault(`The bundle is not taken: ${cause.message}.`, {exit: EXIT.usage, code: 'bundle', cause})
  }
}

function written(world: Environment, file: string, text: string, secret = false) {
  try {
    world.writeNewFile(file, text, secret)
  } catch (cause) {
    const there = (cause as NodeJS.ErrnoException).code === 'EEXIST'
    throw new CommandFault(
      there
        ? `${file} is there already and is left as it is.`
        : `${file} cannot be written: ${cause instanceof Error ? cause.message : cause}.`,
      {
        exit: EXIT.failure,
        code: 'file',
        cause,
      },
    )
  }
}
