import {Refusal} from '../../base/errors.ts'
import {parsedObject} from '../../base/json-object.ts'
import {settingsOf} from '../../providers/configurations.ts'
import type {FieldValues} from '../../secrets/port.ts'
import type {IntegrationCredentials} from '../../store/integrations.ts'

const KEY = 'key'

/**
 * The credentials of an integration with values from its secret references. Refuses (`secret.unresolvable`) one that
 * the kind does not take, by its field: what a schema says of a value may quote it.
 */
export function filledCredentials(
  kind: string,
  own: IntegrationCredentials,
  {byField, references}: FieldValues,
): IntegrationCredentials {
  const filled: Record<string, unknown> = {}
  const fields = new Map<string, string>()
  for (const [field, value] of byField) {
    const name = field.replace(/^(?:configurations|model_config)\./, '')
    fields.set(name, field)
    if (field !== KEY) filled[name] = value
  }
  const refuse = (name: string): never => {
    const field = fields.get(name)!
    const reference = references.get(field) ?? ''
    throw new Refusal('secret.unresolvable', {reference, field, reason: `it is not what ${kind} takes there`})
  }
  const key = byField.get(KEY)
  if (key !== undefined && typeof key !== 'string') refuse(KEY)
  const credentials = (key as string | undefined) ?? own.key
  let wrong = wrongField(kind, {...own.configurations, ...filled}, fields)
  while (wrong !== undefined) {
    // most managers keep a service account as its text
    const text = filled[wrong]
    const read = typeof text === 'string' ? parsedObject(text) : undefined
    if (!read) return refuse(wrong)
    filled[wrong] = read
    wrong = wrongField(kind, {...own.configurations, ...filled}, fields)
  }
  return {key: credentials, configurations: {...own.configurations, ...filled}}
}

function wrongField(
  kind: string,
  configurations: Readonly<Record<string, unknown>>,
  fields: ReadonlyMap<string, string>,
): string | undefined {
  const read = settingsOf(kind).safeParse(configurations)
  if (read.success) return undefined
  const named = read.error.issues.flatMap(issue =>
    issue.code === 'unrecognized_keys' ? issue.keys : [String(issue.path[0])],
  )
  return named.find(name => fields.has(name))
}
