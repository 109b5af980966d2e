import {isObject} from '../base/json-object.ts'

const SHORTEST_SHOWN = 16

/**
 * A secret as it may be shown: its first three and last four characters, of a short one none. Different in form from
 * any secret we take.
 */
export function mask(secret: string): string {
  return secret.length < SHORTEST_SHOWN ? '•••••' : `${secret.slice(0, 3)}•••••${secret.slice(-4)}`
}

/** `value` with every text in it masked, however deep. */
export function maskAll(value: unknown): unknown {
  if (typeof value === 'string') return mask(value)
  if (Array.isArray(value)) return value.map(maskAll)
  return isObject(value)
    ? Object.fromEntries(Object.entries(value).map(([key, member]) => [key, maskAll(member)]))
    : value
}

/**
 * `given` with every text that is the mask of what was `kept` in its place put back: who reads an object and writes it
 * again loses no secret.
 */
export function restored(given: unknown, kept: unknown): unknown {
  if (typeof given === 'string') return typeof kept === 'string' && given === mask(kept) ? kept : given
  if (Array.isArray(given) && Array.isArray(kept)) return given.map((member, at) => restored(member, kept[at]))
  if (!isObject(given) || !isObject(kept)) return given
  return Object.fromEntries(
    Object.entries(given).map(([key, member]) => [
      key,
      Object.hasOwn(kept, key) ? restored(member, kept[key]) : member,
    ]),
  )
}

/** True when `value` holds a mask instead of a secret: it stands for nothing that is kept. */
export function hasMask(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('•')
  return typeof value === 'object' && value !== null && Object.values(value).some(hasMask)
}
