import type {z} from 'zod'
import {newId} from '../base/ids.ts'
import {userOf} from '../identity/subject.ts'
import {FeedbackBody, FeedbackChange, FeedbackPath, FeedbackReply} from '../schema/feedback.ts'
import {insertFeedback, updateFeedback} from '../store/feedback.ts'
import type {FeedbackTable} from '../store/tables/traffic.ts'
import {type OperationCall, operation} from './operation.ts'
import {found, visibilityOf, workspaceOf} from './tenancy.ts'
import {visibleTo} from './visible.ts'

const tag = 'Feedback'

/**
 * Feedback of applications and people on traces. It describes traffic: it is beside the log, and leaves no audit
 * record.
 */
export const feedback = [
  operation({
    id: 'feedback.create',
    tag,
    method: 'POST',
    path: '/feedback',
    summary: 'Say what a trace was worth, from -10 to 10',
    scopes: ['logs.write'],
    only_reads: true,
    body: FeedbackBody,
    reply: FeedbackReply,
    handle: created,
  }),
  operation({
    id: 'feedback.update',
    tag,
    method: 'PUT',
    path: '/feedback/:id',
    compatibility: {spellings: {feedback_id: 'id'}},
    summary: 'Say it anew',
    scopes: ['logs.write'],
    only_reads: true,
    params: FeedbackPath,
    body: FeedbackChange,
    reply: FeedbackReply,
    handle: updated,
  }),
] as const

async function created(
  call: OperationCall<undefined, undefined, typeof FeedbackBody>,
): Promise<z.input<typeof FeedbackReply>> {
  const {actor, app, now, body} = call
  const rows: FeedbackTable[] = []
  for (const {workspace_id, metadata, ...fields} of Array.isArray(body) ? body : [body]) {
    const workspace = await workspaceOf(call, workspace_id)
    rows.push({
      id: newId(),
      organisation_id: actor.organisation_id,
      workspace_id: workspace.id,
      api_key_id: actor.subject.id,
      user_id: userOf(actor.subject),
      source: 'api',
      ...fields,
      metadata: JSON.stringify(metadata),
      created_at: now,
      last_updated_at: now,
    })
  }
  await app.store.write(db => insertFeedback(db, rows))
  return {status: 'success', message: 'The feedback was kept.', feedback_ids: rows.map(({id}) => id)}
}

async function updated(call: OperationCall<typeof FeedbackPath, undefined, typeof FeedbackChange>) {
  const {actor, app, now, params, body} = call
  const scope = {...visibilityOf(call), ...visibleTo(actor)}
  const change = {value: body.value, weight: body.weight, metadata: JSON.stringify(body.metadata), last_updated_at: now}
  const is_there = await app.store.write(db => updateFeedback(db, scope, params.id, change))
  found(is_there || undefined, 'feedback')
  return {status: 'success' as const, message: 'The feedback was changed.', feedback_ids: [params.id]}
}
