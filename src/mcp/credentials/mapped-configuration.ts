import {Refusal} from '../../base/errors.ts'
import {McpConfigurations} from '../../schema/mcp-configurations.ts'
import type {FieldValues} from '../../secrets/port.ts'
import {McpFault} from '../wire/faults.ts'

/**
 * A configuration with values of secret references. A value that its field does not take is named by the field alone:
 * what a schema says of it may quote it.
 */
export function filledConfiguration(
  kept: Readonly<Record<string, unknown>>,
  {byField, references}: FieldValues,
  server: string,
): McpConfigurations {
  const names = new Map([...byField.keys()].map(field => [field.replace(/^configurations\./, ''), field]))
  const whole = {...kept, ...Object.fromEntries([...names].map(([name, field]) => [name, byField.get(field)]))}
  const read = McpConfigurations.safeParse(whole)
  if (read.success) return read.data
  const wrong = read.error.issues.flatMap(issue =>
    issue.code === 'unrecognized_keys' ? issue.keys : [String(issue.path[0])],
  )
  const field = wrong.find(name => names.has(name)) ?? wrong[0]!
  const reference = references.get(names.get(field) ?? '')
  const reason =
    reference === undefined
      ? `configurations.${field} is not what it has to be`
      : `the secret reference ${reference} does not give what configurations.${field} takes`
  throw new McpFault('integration_unfit', {server, reason})
}

/** A refusal of a secret, as calls of tools say it. */
export function secretFault(fault: unknown, server: string): unknown {
  if (!(fault instanceof Refusal)) return fault
  return new McpFault('secret_unresolvable', {server, reason: fault.message.replace(/\.$/, '')}, {cause: fault})
}
