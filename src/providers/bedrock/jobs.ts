import {uriPart} from '../../base/uri-part.ts'
import {type CloudJobs, jobsIn} from '../jobs/cloud.ts'
import type {Upstream} from '../operation.ts'
import {InvalidResponseFault, type Json, type TranslationContext, UnsupportedInputFault} from '../translation.ts'

/** Jobs of one kind: where one is, where all are listed, and the member of the list that holds them. */
export interface JobKind {
  readonly one: string
  readonly all: string
  readonly member: string
}

export function bedrockJobs({one, all, member}: JobKind, {ask}: Upstream): CloudJobs {
  return {
    get: async id => await (await ask({method: 'GET', path: jobPath(one, id)})).json(),
    async cancel(id) {
      ;(await ask({method: 'POST', path: `${jobPath(one, id)}/stop`})).drop()
    },
    async page(token, size) {
      const next = token === null ? '' : `&nextToken=${uriPart(token)}`
      const path = `/${all}?maxResults=${size}&sortBy=CreationTime&sortOrder=Descending${next}`
      const response = await (await ask({method: 'GET', path})).json()
      return {items: jobsIn(response[member]), next: typeof response.nextToken === 'string' ? response.nextToken : null}
    },
  }
}

/** Makes a job; gives its ARN, as an id. */
export async function createdJob({one}: JobKind, body: Json, {ask}: Upstream): Promise<string> {
  return idOfJob(await (await ask({method: 'POST', path: `/${one}`, body})).json())
}

/** A job's id: its ARN, percent-encoded. */
export function idOfJob({jobArn}: Json): string {
  if (typeof jobArn !== 'string') throw new InvalidResponseFault('expected a jobArn')
  return uriPart(jobArn)
}

/** A job by its ARN, or by the last part of it. */
function jobPath(kind: string, id: string): string {
  if (!/^[\w][\w.:/-]{0,1010}$/.test(id) || id.includes('..'))
    throw new UnsupportedInputFault('id', 'expected the ARN of a job')
  return `/${kind}/${uriPart(id)}`
}

/** Names of jobs take letters, digits and inner hyphens, and each may be had once. */
export function jobName(name: string | undefined, {call_id}: TranslationContext): string {
  if (name === undefined) return `gateway-${call_id}`
  if (!/^[a-zA-Z0-9](?:-*[a-zA-Z0-9+.]){0,62}$/.test(name))
    throw new UnsupportedInputFault('job_name', 'expected letters, digits and inner hyphens, 63 at most')
  return name
}
