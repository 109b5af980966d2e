import {type Context, Untranslatable} from '../translation.ts'

/** A job by its ARN, or by the last part of it. */
export function jobPath(kind: string, id: string): string {
  if (!/^[\w][\w.:/-]{0,1010}$/.test(id) || id.includes('..')) throw new Untranslatable('id', 'expected the ARN of a job')
  return `/${kind}/${encodeURIComponent(id)}`
}

/** Names of jobs take letters, digits and inner hyphens, and each may be had once. */
export function jobName(said: string | undefined, {call_id}: Context): string {
  if (said === undefined) return `gateway-${call_id}`
  if (!/^[a-zA-Z0-9](?:-*[a-zA-Z0-9+.]){0,62}$/.test(said))
    throw new Untranslatable('job_name', 'expected letters, digits and inner hyphens, 63 at most')
  return said
}
