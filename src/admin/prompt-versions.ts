import {z} from 'zod'
import {Handle} from '../schema/names.ts'
import {Empty} from '../schema/paging.ts'
import {PromptVersionUpdate, PromptVersionView, PromptView} from '../schema/prompts.ts'
import {findLabel} from '../store/labels.ts'
import * as store from '../store/prompts.ts'
import {type OperationCall, operation} from './operation.ts'
import {promptView, reachPrompt} from './prompts.ts'
import {type CallerScope, found, visibilityOf} from './tenancy.ts'

const tag = 'Prompts'
const params = z.strictObject({promptId: Handle})
const versionParams = z.strictObject({promptId: Handle, versionId: z.uuid()})

/** The versions of a prompt: what they say never changes, which labels they bear does. */
export const promptVersions = [
  operation({
    id: 'prompts.list_versions',
    tag,
    method: 'GET',
    path: '/prompts/:promptId/versions',
    summary: 'List the versions of a prompt, the newest first',
    scopes: ['prompts.read'],
    params,
    reply: z.array(PromptVersionView),
    handle: listed,
  }),
  operation({
    id: 'prompts.get_version',
    tag,
    method: 'GET',
    path: '/prompts/:promptId/versions/:versionId',
    summary: 'Show a prompt in one of its versions',
    scopes: ['prompts.read'],
    params: versionParams,
    reply: PromptView,
    handle: shown,
  }),
  operation({
    id: 'prompts.update_version',
    tag,
    method: 'PUT',
    path: '/prompts/:promptId/versions/:versionId',
    summary: 'Give a version a label, which its prompt has once',
    scopes: ['prompts.update'],
    audit: {resource: 'prompt', action: 'update'},
    params: versionParams,
    body: PromptVersionUpdate,
    reply: Empty,
    handle: labelled,
  }),
] as const

async function listed(call: OperationCall<typeof params>) {
  const row = await reachPrompt(call, call.params.promptId)
  const labels = await store.promptLabels(call.db, row.id)
  return (await store.promptVersions(call.db, row.id)).map(
    ({id, prompt_id, template, version, description, created_at, status}) => ({
      ...{
        id,
        prompt_id,
        prompt_template: JSON.parse(template),
        prompt_version: version,
        prompt_description: description,
      },
      label_id: labels.find(label => label.version === version)?.label_id ?? null,
      ...{created_at, status, object: 'prompt' as const},
    }),
  )
}

async function shown(call: OperationCall<typeof versionParams>) {
  const row = await reachPrompt(call, call.params.promptId)
  return promptView(call, row, await versionOf(call, row.id))
}

async function labelled(call: OperationCall<typeof versionParams, undefined, typeof PromptVersionUpdate>) {
  const {db, body, now} = call
  const row = await reachPrompt(call, call.params.promptId)
  const {version} = await versionOf(call, row.id)
  if (body.label_id === null) await store.clearLabels(db, row.id, version)
  else if (body.label_id !== undefined) {
    const label = found(
      await findLabel(db, {...visibilityOf(call), workspace_id: row.workspace_id}, body.label_id),
      'label',
    )
    await store.assignLabel(db, {prompt_id: row.id, label_id: label.id, version, assigned_at: now})
  }
  call.auditTarget(row.id, row.workspace_id)
  return {}
}

async function versionOf(
  {db, params}: CallerScope & {readonly params: z.output<typeof versionParams>},
  prompt_id: string,
) {
  return found(await store.findPromptVersionById(db, prompt_id, params.versionId), 'version of the prompt')
}
