import type {AuditEvent} from './event.ts'

/** JSON of one line: nothing in it ends a line or moves a cursor where it is shown. */
export function toJsonLine(event: AuditEvent): string {
  return JSON.stringify(event).replace(
    /[\x7f-\x9f\u2028\u2029]/g,
    mark => `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
