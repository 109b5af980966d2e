import {uriPart} from '../../base/uri-part.ts'
import {OPTIONS, type OptionName} from '../option-table.ts'
import {isOption, type Options, optionIn, optionNeeded} from '../options.ts'
import type {Provider} from '../provider.ts'

/**
 * A base URL with options in braces: `https://{azure_resource_name}.openai.azure.com/openai`. Each is written as one
 * label of the host or one segment of the path, which it cannot leave; `usual` has those that may be left out.
 */
export function template(
  text: string,
  usual: Readonly<Partial<Record<OptionName, string>>> = {},
): Required<Pick<Provider, 'baseUrlOf' | 'base_url_template'>> {
  const [scheme = '', rest = ''] = text.split('://')
  const slash = rest.indexOf('/')
  const host = slash < 0 ? rest : rest.slice(0, slash)
  const path = slash < 0 ? '' : rest.slice(slash)
  const names = [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)
  for (const name of names) if (!isOption(name)) throw new Error(`${text}: ${name} is no option`)
  for (const [, name] of host.matchAll(/\{(\w+)\}/g))
    if (!['label', 'account', 'domain'].includes(OPTIONS[name as OptionName].takes))
      throw new Error(`${name} cannot stand in a host`)
  const value = (options: Options, name: OptionName) =>
    usual[name] === undefined ? optionNeeded(options, name) : (optionIn(options, name) ?? usual[name])
  const filled = (part: string, options: Options, write: (option: string) => string) =>
    part.replace(/\{(\w+)\}/g, (_, name: string) => write(value(options, name as OptionName)))
  return {
    base_url_template: text,
    baseUrlOf: options => `${scheme}://${filled(host, options, hostPart)}${filled(path, options, uriPart)}`,
  }
}

/** A host takes no underscores and has no case; a Snowflake account is written with hyphens there. */
function hostPart(value: string): string {
  return value.toLowerCase().replaceAll('_', '-')
}
