/** An id of a batch is no longer than this: an ARN, or a resource's name. */
const MAX_ID_LENGTH = 1024

/** The segment behind `mark` in a path, percent-decoded. */
export function idAfter(path: string, mark: string): string | null {
  const at = path.indexOf(mark)
  return at < 0 ? null : plainText(path.slice(at + mark.length).split('/', 1)[0]!)
}

/** A segment of a path, decoded; null where it is empty, too long, or no text. */
export function plainText(segment: string): string | null {
  if (segment === '' || segment.length > MAX_ID_LENGTH) return null
  try {
    return decodeURIComponent(segment)
  } catch {
    return null
  }
}

/** A text that can be an id. */
export function idOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' && value.length <= MAX_ID_LENGTH ? value : null
}

/** A number as vendors write them: Google's long ones are texts. */
export function amount(value: unknown): number | null {
  const number = typeof value === 'string' && /^\d{1,12}$/.test(value) ? Number(value) : value
  return typeof number === 'number' && Number.isSafeInteger(number) && number >= 0 ? number : null
}
