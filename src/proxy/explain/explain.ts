import {Refusal} from '../../base/errors.ts'
import {maskedUrl} from '../../base/masked-url.ts'
import {seeded} from '../../base/seeded-random.ts'
import type {Plan, PlanTarget} from '../../routing/plan.ts'
import type {TryResult} from '../../routing/retry.ts'
import {type BranchChoice, branchesOf, goesOn, type Simulation, simulate, targetsOf} from '../../routing/simulate.ts'
import type {
  Answered,
  Answers,
  Explain,
  ExplainedChoice,
  ExplainedTarget,
  ExplainedWay,
  Explanation,
} from '../../schema/explanations.ts'
import type {Remembered} from '../../store/remembered.ts'
import {configText, type DryRunCall, dryRunCall} from '../call/offline-call.ts'
import type {Body} from '../inbound/body.ts'
import {enterPrompt, isPrompted, Prompts} from '../run/prompt.ts'
import type {Uses} from '../services.ts'
import {PlanCache} from '../targets/plan-cache.ts'
import {splitModel, type TargetServices} from '../targets/target.ts'
import type {BuildServices} from '../upstream/build-request.ts'
import {explainTarget, type OpenedLeaf, openLeaf} from './target.ts'

type Services = BuildServices &
  TargetServices &
  Uses<
    'administered' | 'circuits' | 'findConfig' | 'findPartial' | 'findPrompt' | 'masked' | 'now' | 'secrets' | 'steady'
  >

/** Tells what would become of calls, and makes none. */
export interface Explainer {
  readonly explain: Explain
  /** Plans of the questions before. */
  readonly remembered: readonly Remembered[]
}

/** Plans of configs that came with a question are remembered for as many questions. */
const REMEMBERED = 64
/** Every target shows the whole body, so the size of one answer is bounded. */
const MAX_BODY_BYTES = 16 << 20
/** Other work of this process is let in after so many targets. */
const AT_A_TIME = 25

/** `on` provides the workspace's rows and the prices; nothing is sent, counted or kept. */
export function createExplainer(services: Services): Explainer {
  const routings = new PlanCache(services)
  let answered = 0
  return {
    remembered: routings.remembered,
    async explain(question, caller) {
      if (++answered % REMEMBERED === 0) routings.forget()
      const {seed, answers = {}} = question
      const at_ms = question.at === undefined ? services.now() : Date.parse(question.at)
      const config = question.config === undefined ? undefined : configText(question.config)
      const imagined = dryRunCall(question.request, {caller, config, at_ms, services})
      const {call} = imagined
      if (isPrompted(call.incoming)) await enterPrompt(call, new Prompts(services))
      const {incoming, body} = call
      const model = 'model' in body ? body.model : null
      const routing = await routings.find(incoming, call.caller, model === null ? null : splitModel(model)[0])
      const {plan, selectors} = routing
      const leaves = targetsOf(plan.root)
      checkSize(body, leaves.length)
      const opened = new Map<string, OpenedLeaf>()
      for (const leaf of leaves) {
        opened.set(
          leaf.path,
          await openLeaf(leaf, () => routings.target(routing, leaf, incoming, call.caller), imagined, services),
        )
        if (opened.size % AT_A_TIME === 0) await othersFirst()
      }
      const unknown = Object.keys(answers).find(path => !opened.has(path))
      if (unknown !== undefined)
        throw new Refusal('body.invalid', {issues: `answers.${unknown}: no target of the config has this path.`})
      const way = (answer: (leaf: PlanTarget, retry: number) => Answered) => {
        const options = {
          facts: imagined.facts,
          workspace_id: caller.workspace_id,
          now_ms: at_ms,
          random: seeded(String(seed)),
        }
        return wayView(
          simulate(plan, options, (leaf, retry) => resultOf(opened.get(leaf.path)!.refusal ?? answer(leaf, retry))),
          opened,
        )
      }
      const targets: ExplainedTarget[] = []
      for (const leaf of opened.values()) {
        targets.push(explainTarget(leaf, plan, imagined, services))
        if (targets.length % AT_A_TIME === 0) await othersFirst()
      }
      return {
        object: 'explanation',
        seed,
        at: question.at ?? null,
        config: configView(plan, selectors.config),
        warnings: [...plan.warnings, ...new Set([...opened.values()].flatMap(({target}) => target?.warning ?? []))],
        call: callView(imagined, model),
        way: way((leaf, retry) => answerOf(answers, leaf.path, retry)),
        failing: way(leaf => failureOf(plan, leaf.path)),
        branches: branchesOf(plan.root).map(({path, name, mode}) => ({path, name, mode})),
        targets,
      }
    },
  }
}

function checkSize(body: Body, targets: number) {
  const most = Math.floor(MAX_BODY_BYTES / targets)
  if (!('bytes' in body) || body.bytes.length <= most) return
  throw new Refusal('body.invalid', {issues: `request.body: must have at most ${most} bytes with ${targets} targets.`})
}

function othersFirst(): Promise<void> {
  return new Promise(done => setImmediate(done))
}

/** Saved ones by both their names, where they were named by the slug. */
function configView({config_id}: Plan, config: string | undefined): Explanation['config'] {
  if (config === undefined) return null
  return {id: config_id, slug: config_id === null || config === config_id ? null : config}
}

function callView({call}: DryRunCall, model: string | null): Explanation['call'] {
  const {incoming, endpoint, metadata, body} = call
  const path = maskedUrl(incoming.request.url ?? '')
  return {method: incoming.method, path, endpoint, model, is_stream: body.kind === 'json' && body.stream, metadata}
}

function answerOf(answers: Answers, path: string, retry: number): Answered {
  const answer = Object.hasOwn(answers, path) ? answers[path]! : 200
  return Array.isArray(answer) ? answer[Math.min(retry, answer.length - 1)]! : answer
}

/** A status after which the next target is tried, where there is one. */
function failureOf(plan: Plan, path: string): number {
  const codes = goesOn(plan, path)[0]?.on_status_codes
  return !codes || codes.includes(500) ? 500 : codes[0]!
}

function resultOf(answer: Answered | Refusal): TryResult {
  const rest = {headers: null, is_committed: false}
  if (answer instanceof Refusal) return {status: answer.status, kind: 'refusal', ...rest}
  if (answer === 'timeout') return {status: 408, kind: 'timeout', ...rest}
  if (answer === 'unreachable') return {status: 503, kind: 'network_error', ...rest}
  return {status: answer, kind: 'answer', ...rest}
}

function wayView({visits, end}: Simulation, opened: ReadonlyMap<string, OpenedLeaf>): ExplainedWay {
  return {
    visits: visits.map(({leaf, because, tries}) => ({
      target: leaf.path,
      because: because.map(choiceView),
      tries: tries.map(({wait_ms, result}) => ({wait_ms, status: result.status})),
    })),
    end: endView({visits, end}, opened),
    because: end.kind === 'refuse' ? end.because.map(choiceView) : [],
  }
}

function endView(
  {visits, end}: Pick<Simulation, 'visits' | 'end'>,
  opened: ReadonlyMap<string, OpenedLeaf>,
): ExplainedWay['end'] {
  const last = visits.at(-1)
  const refusal =
    end.kind === 'refuse'
      ? new Refusal(`config.${end.refused.reason}`, {path: end.refused.path})
      : last && (opened.get(last.leaf.path)?.refusal ?? null)
  if (refusal) {
    const {code, status, message} = refusal
    return {status, target: null, retry_attempt_count: 0, refusal: {code, status, message}}
  }
  const retry_attempt_count = end.kind === 'answer' ? end.retry_attempt_count : 0
  return {status: last!.tries.at(-1)!.result.status, target: last!.leaf.path, retry_attempt_count, refusal: null}
}

function choiceView(choice: BranchChoice): ExplainedChoice {
  const {path, to} = choice
  switch (choice.mode) {
    case 'single':
    case 'fallback':
      return {mode: choice.mode, path, to}
    case 'loadbalance':
      return {
        mode: 'loadbalance',
        path,
        to,
        weights: [...choice.weights],
        drawn: choice.drawn,
        sticky_key: choice.sticky_key,
      }
    case 'conditional':
      return {mode: 'conditional', path, to, conditions: [...choice.conditions]}
  }
}
