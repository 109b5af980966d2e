import type {Command} from 'commander'
import {minute} from './commands/rows.ts'
import type {Gateway} from './connect.ts'
import {readMoment} from './option-parsers.ts'
import {fileText} from './options.ts'
import {countsOf, type Diff, printDiff} from './price-diff.ts'
import type {PriceSource} from './price-source.ts'

export interface Installed extends Diff {
  readonly revision: number | null
  readonly effective_at: string
}

export interface KeyOption {
  readonly publicKey?: string
  readonly from?: string
}

export function withPublicKey(command: Command): Command {
  return command.option(
    '--public-key <file>',
    'key that signed the bundle (default: GATEWAY_BUNDLE_PUBLIC_KEY of the gateway)',
  )
}

/** The installed prices, and the time from which they apply. */
export function printInstalled({print}: Gateway, installed: Installed, {all}: {readonly all?: true} = {}): void {
  if (print.json) return print.json_reply(installed)
  if (!print.quiet) printDiff(print, installed, {whole: all === true})
  const {revision, effective_at} = installed
  print.done(
    installed,
    revision === null
      ? `${countsOf(installed)}. Nothing changes.`
      : `${countsOf(installed)}. Revision ${revision} holds from ${minute(effective_at)} UTC.`,
  )
}

export function from({from: time}: {readonly from?: string}): {readonly effective_at?: string} {
  return time === undefined ? {} : {effective_at: readMoment(time, '--from')}
}

export function printWithdrawn(
  {print}: Gateway,
  result: {readonly withdrawn: readonly {readonly revision: number; readonly origin: string}[]},
): void {
  const named = result.withdrawn.map(({revision, origin}) => `${revision} (${origin})`)
  print.done(
    result,
    named.length
      ? `Withdrawn: revision ${named.join(', ')}. Calls from now on have the prices of before.`
      : 'Nothing was installed after it.',
  )
}

/** Installs a bundle that was read. */
export function applyBundle(
  gateway: Gateway,
  {bundle, origin}: PriceSource & {kind: 'bundle'},
  options: KeyOption,
): Promise<Installed> {
  return gateway.call('bundles.apply', {body: {bundle, origin, ...publicKeyOf(gateway, options), ...from(options)}})
}

export function publicKeyOf({world}: Pick<Gateway, 'world'>, {publicKey}: KeyOption): {readonly public_key?: string} {
  return publicKey === undefined ? {} : {public_key: fileText(world, publicKey, '--public-key')}
}
