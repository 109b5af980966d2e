import type {MaybePromise} from '../base/maybe-promise.ts'
import type {SecretValue} from './contents.ts'
import {type FilledFrom, fieldValues} from './fields.ts'
import type {FieldValues, MappedField, MappedFields, MappedSecrets} from './port.ts'
import type {SecretValues} from './values.ts'

interface Made {
  readonly from: readonly FilledFrom[]
  readonly values: FieldValues
}

/** Values of mapped fields, made once of the same contents. */
export class FieldSecrets implements MappedSecrets {
  readonly #values: SecretValues
  /** By the fields of a row: the last values of them. */
  readonly #last = new WeakMap<MappedFields, Made>()
  readonly #made = new WeakMap<FieldValues, Made>()

  constructor(values: SecretValues) {
    this.#values = values
  }

  valuesOf(mapped: MappedFields): MaybePromise<FieldValues> {
    const {organisation_id, workspace_id} = mapped
    const found = mapped.fields.map(field => {
      const use = {organisation_id, workspace_id, target_field: field.target_field}
      const value = this.#values.valueOf(field.secret_reference_id, use)
      return value instanceof Promise ? value.then(late => ({field, ...late})) : {field, ...value}
    })
    return found.some(each => each instanceof Promise)
      ? Promise.all(found).then(all => this.#filled(mapped, all))
      : this.#filled(mapped, found as FilledFrom[])
  }

  async refused(_mapped: MappedFields, used: FieldValues): Promise<FieldValues | null> {
    const made = this.#made.get(used)
    if (!made) return null
    const refetched = new Map<string, Promise<SecretValue | null>>()
    for (const {field, value} of made.from) {
      const {secret_reference_id: id} = field
      if (!refetched.has(id)) refetched.set(id, this.#values.afterRefusal(id, value.digest))
    }
    try {
      const from = await Promise.all(
        made.from.map(async each => ({...each, value: (await refetched.get(idOf(each.field))) ?? each.value})),
      )
      return isSame(from, made.from) ? null : this.#kept({from, values: fieldValues(from)}).values
    } catch {
      return null // the new value does not fit the field: the provider's refusal says enough
    }
  }

  #filled(mapped: MappedFields, from: readonly FilledFrom[]): FieldValues {
    const last = this.#last.get(mapped)
    if (last && isSame(last.from, from)) return last.values
    const made = this.#kept({from, values: fieldValues(from)})
    this.#last.set(mapped, made)
    return made.values
  }

  #kept(made: Made): Made {
    this.#made.set(made.values, made)
    return made
  }
}

function idOf({secret_reference_id}: MappedField): string {
  return secret_reference_id
}

function isSame(one: readonly FilledFrom[], other: readonly FilledFrom[]): boolean {
  return one.every((each, at) => each.value.digest === other[at]?.value.digest)
}
