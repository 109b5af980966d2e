import type {EndpointName} from '../../schema/endpoints.ts'

/** Statuses of a server that has no such route. */
const ABSENT: ReadonlySet<number> = new Set([404, 405, 501])
/** Statuses of a route that reads a request, and finds that it lacks what it needs. */
const INCOMPLETE: ReadonlySet<number> = new Set([400, 422])
/** How servers that have one answer for everything say that they have no such route. */
const NO_ROUTE = /unexpected endpoint|(?:no such|unknown|invalid) (?:route|endpoint|path)/i
/** The member without which each of these routes cannot work. */
const NEEDS: Readonly<Partial<Record<EndpointName, RegExp>>> = {
  messages: /messages|model/,
  createModelResponse: /input|model/,
}

/**
 * Judges by the answer to an empty request (`{}`) whether a route exists: true when the answer names what the request
 * lacks; false when the route is missing; null when neither is sure. An empty request has no model and no prompt, so it
 * makes no engine work.
 */
export function isServed(endpoint: EndpointName, status: number, body: string): boolean | null {
  if (ABSENT.has(status) || status < 300 || NO_ROUTE.test(body)) return false
  if (INCOMPLETE.has(status)) return true
  return status === 500 && NEEDS[endpoint]?.test(body) ? true : null
}
