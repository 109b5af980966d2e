import type {Command} from 'commander'
import {type Unchecked, unchecked} from '../client.ts'
import type {Environment} from '../environment.ts'
import {usageFault} from '../fault.ts'
import {readPairs} from '../option-parsers.ts'
import {jsonFrom} from '../options.ts'

/** The options for the address of a provider, and the settings that its kind needs beside a key. */
export interface PlaceOptions {
  readonly customHost?: string
  readonly set?: readonly string[]
  readonly configurations?: string
}

export function withPlace(command: Command): Command {
  return command
    .option('--custom-host <url>', 'base URL to call in place of the usual one; a private address may be named')
    .option('--set <name=value...>', 'settings of its kind, for example azure_resource_name=my-models')
    .option(
      '--configurations <file>',
      'the same from a JSON file, or - for stdin: for settings that are secret or nested',
    )
}

/**
 * The `configurations` of an integration; undefined where none is given. One setting alone leaves the others, which
 * `current` reads (a secret among them by its mask, which stands for what it was); a file says all of them.
 */
export async function configurationsOf(
  {customHost, set, configurations}: PlaceOptions,
  world: Environment,
  current: () => Promise<object> = async () => ({}),
): Promise<Unchecked | undefined> {
  const given = configurations === undefined ? {} : await jsonFrom(world, configurations, '--configurations')
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw usageFault('--configurations takes a JSON object.')
  const some = {...(set && readPairs(set, '--set')), ...(customHost !== undefined && {custom_host: customHost})}
  if (configurations !== undefined) return unchecked({...given, ...some})
  return Object.keys(some).length ? unchecked({...(await current()), ...some}) : undefined
}
