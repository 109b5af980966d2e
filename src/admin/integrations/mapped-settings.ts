import {settingsOf} from '../../providers/configurations.ts'
import type {IntegrationsTable} from '../../store/tables/catalog.ts'
import {parsed} from '../parsed.ts'
import type {CredentialsInput} from './place-changes.ts'

type Settings = Readonly<Record<string, unknown>>

/** Values of which each field of a kind takes one: in the place of a secret that is fetched later. */
const STAND_INS: readonly unknown[] = ['secret', {}, '0', true, ['secret']]

/** The settings that secret references fill, with the mappings that there will be. */
export function mappedSettings({secret_mappings}: CredentialsInput, before?: IntegrationsTable): readonly string[] {
  const kept = before ? (JSON.parse(before.secret_mappings) as NonNullable<CredentialsInput['secret_mappings']>) : []
  const fields = (secret_mappings ?? kept).map(({target_field}) => target_field)
  return fields.flatMap(field => /^(?:configurations|model_config)\.(\w+)$/.exec(field)?.[1] ?? [])
}

/**
 * Settings as their kind reads them; what is mapped need not be among them, and has to be a setting of the kind.
 */
export function settingsBeside(kind: string, given: Settings, mapped: readonly string[]): Record<string, unknown> {
  const missing = mapped.filter(name => given[name] === undefined)
  const whole: Record<string, unknown> = {...given}
  for (const name of missing) whole[name] = standIn(kind, given, name)
  const settings = parsed(settingsOf(kind), whole, 'configurations')
  return Object.fromEntries(Object.entries(settings).filter(([name]) => !missing.includes(name)))
}

function standIn(kind: string, given: Settings, name: string): unknown {
  const fits = (value: unknown) => {
    const read = settingsOf(kind).safeParse({...given, [name]: value})
    return read.success || !read.error.issues.some(({path}) => path[0] === name)
  }
  return STAND_INS.find(fits) ?? STAND_INS[0]
}
