import {DEMO} from '../providers/registry.ts'

type Call = (request: {method: string; url: string; body?: unknown}) => Promise<{status: number; body: unknown}>

/** The demo provider cannot be looked for, or made. An answer does not name what failed within: it may be damage. */
export class DemoFault extends Error {
  override readonly name = 'DemoFault'
}

/** Makes the integration and the provider `@demo`, open to every workspace, unless they are there. */
export async function makeDemo(call: Call): Promise<void> {
  const known = await call({method: 'GET', url: `/v1/integrations/${DEMO}`})
  if (known.status === 200) return
  if (known.status !== 404)
    throw new DemoFault(`The demo provider could not be looked for: ${JSON.stringify(known.body)}`)
  await made(call({method: 'POST', url: '/v1/integrations', body: {name: 'Demo', slug: DEMO, ai_provider_id: DEMO}}))
  const free = {price: 0}
  const echo = {
    slug: 'echo',
    enabled: true,
    is_custom: true,
    pricing_config: {type: 'static', pay_as_you_go: {request_token: free, response_token: free}},
  }
  await made(
    call({method: 'PUT', url: `/v1/integrations/${DEMO}/models`, body: {models: [echo], allow_all_models: true}}),
  )
  const global_workspace_access = {enabled: true}
  await made(
    call({
      method: 'PUT',
      url: `/v1/integrations/${DEMO}/workspaces`,
      body: {
        workspaces: [],
        global_workspace_access,
        default_provider_slug: DEMO,
        override_existing_workspace_access: true,
      },
    }),
  )
}

async function made(reply: ReturnType<Call>) {
  const {status, body} = await reply
  if (status !== 200) throw new DemoFault(`The demo provider could not be made: ${JSON.stringify(body)}`)
}
