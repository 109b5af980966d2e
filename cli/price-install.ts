import type {Command} from 'commander'
import {minute} from './commands/rows.ts'
import type {Gateway} from './connect.ts'
import {fileText} from './options.ts'
import {countsOf, type Diff, printDiff} from './price-diff.ts'
import type {Source} from './price-source.ts'
import {readMoment} from './words.ts'

export interface Installed extends Diff {
  readonly revision: number | null
  readonly effective_at: string
}

export interface KeyOption {
  readonly publicKey?: string
  readonly from?: string
}

export function withPublicKey(command: Command): Command {
  return command.option('--public-key <file>', 'key that signed the bundle (default: GATEWAY_BUNDLE_PUBLIC_KEY of the gateway)')
}

/** What was installed, and since when it holds. */
export function printInstalled({print}: Gateway, said: Installed, {all}: {readonly all?: true} = {}): void {
  if (print.json) return print.json_reply(said)
  if (!print.quiet) printDiff(print, said, {whole: all === true})
  const {revision, effective_at} = said
  print.done(
    said,
    revision === null
      ? `${countsOf(said)}. Nothing changes.`
      : `${countsOf(said)}. Revision ${revision} holds from ${minute(effective_at)} UTC.`,
  )
}

export function from({from: said}: {readonly from?: string}): {readonly effective_at?: string} {
  return said === undefined ? {} : {effective_at: readMoment(said, '--from')}
}

export function printWithdrawn(
  {print}: Gateway,
  said: {readonly withdrawn: readonly {readonly revision: number; readonly origin: string}[]},
): void {
  const named = said.withdrawn.map(({revision, origin}) => `${revision} (${origin})`)
  print.done(
    said,
    named.length
      ? `Withdrawn: revision ${named.join(', ')}. Calls from now on have the prices of before.`
      : 'Nothing was installed after it.',
  )
}

/** Installs a bundle that was read. */
export function applyBundle(gateway: Gateway, {bundle, origin}: Source & {kind: 'bundle'}, options: KeyOption): Promise<Installed> {
  return gateway.call('bundles.apply', {body: {bundle, origin, ...publicKeyOf(gateway, options), ...from(options)}})
}

export function publicKeyOf({world}: Pick<Gateway, 'world'>, {publicKey}: KeyOption): {readonly public_key?: string} {
  return publicKey === undefined ? {} : {public_key: fileText(world, publicKey, '--public-key')}
}
