import {openLogins} from '../../../src/providers/auth/login.ts'
import {dryRunCall} from '../../../src/proxy/call/offline-call.ts'
import {asRefusal} from '../../../src/proxy/inbound/error-response.ts'
import type {ProxyServices} from '../../../src/proxy/services.ts'
import {PlanCache} from '../../../src/proxy/targets/plan-cache.ts'
import {buildUpstreamRequest, withCredentials} from '../../../src/proxy/upstream/build-request.ts'
import type {PlanNode, PlanTarget} from '../../../src/routing/plan.ts'
import type {Asked} from './ways.ts'

/** What would have been dialled for one target of a call, or why it was not. */
export interface Dialled {
  /** `https://host/base`; null where nothing left. */
  readonly origin: string | null
  /** All that would have been sent there. */
  readonly text: string
  readonly headers: Readonly<Record<string, unknown>>
  /** What was asked for tokens: the address and what was told there. */
  readonly asked_tokens: readonly {readonly url: string; readonly text: string}[]
  readonly refusal: string | null
  readonly warning: string | null
  readonly slug: string | null
}

const STS = `<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>TOKEN-STS</AccessKeyId><SecretAccessKey>s</SecretAccessKey>
<SessionToken>TOKEN-SESSION</SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`

/**
 * A way out that takes note of what would leave, target after target, and opens no socket. Every login is made anew.
 */
export function dialler(on: ProxyServices, workspace_id: string, organisation_id: string) {
  return async ({headers = {}, config, model = 'm'}: Asked, path: string, saved_slug?: string): Promise<Dialled[]> => {
    const asked_tokens: {url: string; text: string}[] = []
    const logins = openLogins({
      now_ms: on.now,
      identity: {
        aws: {keys: {access_key_id: 'HOUSE-AWS-ID', secret_access_key: 'HOUSE-AWS', session_token: null}},
        azure: {mode: 'managed', app_service: {url: 'https://identity.house', header: 'HOUSE-HEADER'}},
      },
      fetch: async request => {
        asked_tokens.push({url: request.url, text: JSON.stringify(request)})
        const {hostname} = new URL(request.url)
        if (hostname.startsWith('sts.')) return {status: 200, body: STS}
        return {
          status: 200,
          body: JSON.stringify({access_token: `TOKEN-${hostname}`, expires_in: 3600, token_type: 'Bearer'}),
        }
      },
    })
    const services: ProxyServices = {...on, logins}
    const caller = {organisation_id, workspace_id, workspace_slug: '', metadata: {}, config_id: null}
    const request = {
      method: 'POST' as const,
      path,
      headers: {...headers},
      body: {model, max_tokens: 5, messages: [{role: 'user', content: 'hi'}]},
    }
    const text = saved_slug ?? (config && JSON.stringify(config))
    const refused = (fault: unknown, rest: Partial<Dialled> = {}): Dialled => {
      const refusal = asRefusal(fault)
      if (refusal.code === 'internal') throw fault
      return {
        origin: null,
        text: '',
        headers: {},
        asked_tokens,
        refusal: `${refusal.code}: ${refusal.message}`,
        warning: null,
        slug: null,
        ...rest,
      }
    }
    const plans = new PlanCache(services)
    const all: Dialled[] = []
    try {
      const imagined = dryRunCall(request, {caller, config: text, at_ms: on.now(), services})
      const {call, credentials} = imagined
      const slug = model[0] === '@' ? model.slice(1, model.indexOf('/')) : null
      const plan = await plans.find(call.incoming, call.caller, slug)
      for (const leaf of leavesOf(plan.plan.root)) {
        const from = asked_tokens.length
        try {
          const target = await plans.target(plan, leaf, call.incoming, call.caller)
          const of = {warning: target.warning, slug: target.managed?.slug ?? null}
          try {
            const out = await withCredentials(
              buildUpstreamRequest(call, target, credentials, services),
              target,
              services,
            )
            const {destination, headers: sent, body} = out
            const whole = `${out.path} ${JSON.stringify(sent)} ${Buffer.isBuffer(body) ? body.toString() : ''}`
            const origin = destination ? destination.origin + destination.basePath : null
            all.push({origin, text: whole, headers: sent, asked_tokens: asked_tokens.slice(from), refusal: null, ...of})
          } catch (fault) {
            all.push(refused(fault, {asked_tokens: asked_tokens.slice(from), ...of}))
          }
        } catch (fault) {
          all.push(refused(fault))
        }
      }
    } catch (fault) {
      all.push(refused(fault))
    }
    return all
  }
}

function leavesOf(node: PlanNode): PlanTarget[] {
  return node.kind === 'leaf' ? [node] : node.children.flatMap(leavesOf)
}
