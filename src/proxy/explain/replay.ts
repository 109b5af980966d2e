import type {IncomingMessage} from 'node:http'
import {Refusal} from '../../base/errors.ts'
import {seeded} from '../../base/seeded-random.ts'
import type {Branch, PlanNode, PlanTarget} from '../../routing/plan.ts'
import type {TryResult} from '../../routing/retry.ts'
import {simulate, targetsOf} from '../../routing/simulate.ts'
import type {ImaginedCaller} from '../../schema/explanations.ts'
import {type Decision, type LoggedCall, labelOf, type Replayer} from '../../schema/replays.ts'
import {checkModel} from '../call/model-access.ts'
import {configText, wholeCaller} from '../call/offline-call.ts'
import type {FormBody} from '../inbound/body.ts'
import {type InboundRequest, parseRequest} from '../inbound/request.ts'
import type {Caller, Uses} from '../services.ts'
import {PlanCache, type ResolvedPlan} from '../targets/plan-cache.ts'
import {checkManaged, modelFor, splitModel, type Target, type TargetServices} from '../targets/target.ts'

type Services = TargetServices & Uses<'administered' | 'circuits' | 'findConfig' | 'settings'>

/** A replayer over `on`, of which nothing is sent, counted or kept. Refuses what is no config. */
export async function openReplayer(given: string, of: ImaginedCaller, services: Services): Promise<Replayer> {
  const config = configText(given)
  const routings = new PlanCache(services)
  const caller = wholeCaller(of)
  const around: Around = {config, caller, routings, known: new Map(), targets: new WeakMap(), services}
  const {plan} = await routings.find(incomingOf(PROBE, config, null, services), caller, null)
  return {
    reads_bodies: readsParams(plan.root),
    async decide(call) {
      try {
        return await decide(call, around)
      } catch (fault) {
        return {to: `refused ${refusalOf(fault).status}`, by_lot: false}
      }
    },
  }
}

const PROBE = {method: 'POST', url: '/v1/chat/completions', created_at_ms: 0}

interface Around {
  readonly config: string
  readonly caller: Caller
  readonly routings: PlanCache
  /** By what calls say of their provider: looking a long config up costs as much as its length. */
  readonly known: Map<string, ResolvedPlan>
  readonly targets: WeakMap<ResolvedPlan, ReadonlyMap<PlanTarget, Target | Refusal>>
  readonly services: Services
}

async function decide(call: LoggedCall, around: Around): Promise<Decision> {
  const {config, caller, routings, services} = around
  const [slug, model] = askedModel(call)
  const provider = call.targets[0]?.provider ?? null
  const incoming = incomingOf(call, config, provider, services)
  const name = JSON.stringify([provider, slug])
  const routing = around.known.get(name) ?? (await routings.find(incoming, caller, slug))
  around.known.set(name, routing)
  const targets = around.targets.get(routing) ?? (await openAll(routing, incoming, around))
  const opened = new Map<PlanTarget, Opened>()
  const open = (leaf: PlanTarget) => {
    const known = opened.get(leaf) ?? judged(targets.get(leaf)!, {call, incoming, model, caller})
    opened.set(leaf, known)
    return known
  }
  const params = call.body ?? {...(model !== null && {model}), stream: call.is_stream}
  const facts = {metadata: call.metadata, params, pathname: call.url.split('?', 1)[0]!}
  const options = {
    facts,
    workspace_id: caller.workspace_id,
    now_ms: call.created_at_ms,
    random: seeded(call.call_id),
    by_caller: true,
  }
  const {visits, end, by_lot} = simulate(routing.plan, options, leaf => resultOf(open(leaf), call))
  const last = visits.at(-1)
  if (end.kind === 'refuse' || !last) return {to: 'refused 400', by_lot}
  const {refusal, label} = open(last.leaf)
  return {to: refusal ? `refused ${refusal.status}` : label, by_lot}
}

/** The targets of a plan, once for all calls that say the same; one that cannot be opened is what refuses it. */
async function openAll(
  routing: ResolvedPlan,
  incoming: InboundRequest,
  {routings, caller, targets}: Around,
): Promise<ReadonlyMap<PlanTarget, Target | Refusal>> {
  const opened = new Map<PlanTarget, Target | Refusal>()
  for (const leaf of targetsOf(routing.plan.root)) {
    try {
      opened.set(leaf, await routings.target(routing, leaf, incoming, caller))
    } catch (fault) {
      opened.set(leaf, refusalOf(fault))
    }
  }
  targets.set(routing, opened)
  return opened
}

/** A target as one call finds it. */
function judged(
  target: Target | Refusal,
  {call, incoming, model, caller}: {call: LoggedCall; incoming: InboundRequest; model: string | null; caller: Caller},
): Opened {
  if (target instanceof Refusal) return {refusal: target, provider: '', model: null, label: ''}
  try {
    checkManaged(target, call.created_at_ms)
    const body: FormBody = {kind: 'form', bytes: NOTHING, parts: null, model_field: undefined, model}
    checkModel(target, {body, incoming, caller, operation: null, is_passthrough: false})
    return {refusal: null, ...named(target, model)}
  } catch (fault) {
    return {refusal: refusalOf(fault), provider: '', model: null, label: ''}
  }
}

/** An error that is no refusal is a fault of ours. */
function refusalOf(fault: unknown): Refusal {
  if (fault instanceof Refusal && fault.code !== 'internal') return fault
  throw fault
}

interface Opened {
  readonly refusal: Refusal | null
  readonly provider: string
  readonly model: string | null
  readonly label: string
}

const NOTHING = Buffer.alloc(0)

function named({managed, provider, model: set, params}: Target, wanted: string | null): Omit<Opened, 'refusal'> {
  const usual = params.default_params?.model
  const chosen = wanted ?? (typeof usual === 'string' ? usual : null)
  const model = set ?? (chosen === null ? null : modelFor(provider, chosen))
  const name = managed ? `@${managed.slug}` : provider.slug
  return {provider: name, model, label: labelOf(name, model)}
}

/** The slug in the model that the body names, else in that of the log; and the model as it is written. */
function askedModel({body, model}: LoggedCall): [string | null, string | null] {
  const wanted = body && typeof body.model === 'string' ? body.model : model
  return wanted === null ? [null, null] : [splitModel(wanted)[0], wanted]
}

function resultOf({refusal, provider, model}: Opened, {targets}: LoggedCall): TryResult {
  const status =
    refusal?.status ?? targets.find(each => each.provider === provider && each.model === model)?.status ?? 200
  return {status, kind: refusal ? 'refusal' : 'answer', headers: null, is_committed: false}
}

function incomingOf(
  {method, url, created_at_ms}: Pick<LoggedCall, 'method' | 'url' | 'created_at_ms'>,
  config: string,
  provider: string | null,
  services: Services,
): InboundRequest {
  const headers = {'x-gateway-config': config, ...(provider !== null && {'x-gateway-provider': provider})}
  return parseRequest({method, url, headers} as unknown as IncomingMessage, created_at_ms, 0, services.administered)
}

function readsParams(node: PlanNode): boolean {
  return node.kind === 'branch' && (asksForParams(node) || node.children.some(readsParams))
}

/** By the words of a condition; a value that looks like a key costs a read that was not needed. */
function asksForParams(branch: Branch): boolean {
  if (branch.mode === 'conditional') return branch.conditions.some(({text}) => /\bparams\./.test(text))
  return (
    branch.mode === 'loadbalance' && (branch.sticky?.hash_fields.some(field => field.startsWith('params.')) ?? false)
  )
}
