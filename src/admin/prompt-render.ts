import {z} from 'zod'
import {TemplateFault} from '../base/mustache/parse.ts'
import {promptedCall, readyPrompt} from '../prompts/call.ts'
import {readNamed} from '../prompts/selector.ts'
import {Handle} from '../schema/names.ts'
import {PromptCall, RenderedCall} from '../schema/prompts.ts'
import {findPartialForCall, findPromptForCall} from '../store/prompts-for-call.ts'
import {type OperationCall, operation} from './operation.ts'
import {found, invalid, visibilityOf} from './tenancy.ts'

const params = z.strictObject({promptId: Handle})

/** The request that a call of a prompt would send, without sending it. */
export const promptRender = [
  operation({
    id: 'prompts.render',
    tag: 'Prompts',
    method: 'POST',
    path: '/prompts/:promptId/render',
    summary: 'Render a prompt: the body that its call would have, which is not made',
    scopes: ['prompts.render'],
    only_reads: true,
    params,
    body: PromptCall,
    reply: z.strictObject({success: z.literal(true), data: RenderedCall}),
    handle: rendered,
  }),
] as const

async function rendered(call: OperationCall<typeof params, undefined, typeof PromptCall>) {
  const {db, body} = call
  const {named, meant} = readNamed(call.params.promptId)
  const prompt = found(await findPromptForCall(db, visibilityOf(call), named, meant), 'prompt')
  const reach = {organisation_id: call.actor.organisation_id, workspace_id: prompt.workspace_id}
  const {variables, ...overrides} = body
  try {
    const ready = await readyPrompt(prompt.template, ref => findPartialForCall(db, reach, ref))
    return {success: true as const, data: {...promptedCall(ready, variables, overrides).body}}
  } catch (fault) {
    if (fault instanceof TemplateFault)
      throw invalid('promptId', `names a prompt that cannot be rendered: ${fault.message}`)
    throw fault
  }
}
