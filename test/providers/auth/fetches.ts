import type {CredentialFetch} from '../../../src/providers/auth/aws-login.ts'
import {type Logins, type LoginsOptions, openLogins} from '../../../src/providers/auth/login.ts'
import {NOW_MS} from '../catalog/ask.ts'

export type Fetched = Parameters<CredentialFetch>[0]

/** Logins whose calls are written down and answered by `answer`; the clock stands still until it is moved. */
export function recorded(
  answer: (request: Fetched) => {status?: number; body: unknown},
  more: Partial<LoginsOptions> = {},
) {
  const calls: Fetched[] = []
  const clock = {now_ms: NOW_MS}
  const logins: Logins = openLogins({
    now_ms: () => clock.now_ms,
    async fetch(request) {
      calls.push(request)
      const {status = 200, body} = answer(request)
      return {status, body: typeof body === 'string' ? body : JSON.stringify(body)}
    },
    ...more,
  })
  return {calls, clock, logins}
}
