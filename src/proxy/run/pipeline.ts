import type {MaybePromise} from '../../base/maybe-promise.ts'

/** `done`: the call was answered here, and no further stage runs. */
export type StageResult = 'done' | undefined
export type RunStage<R> = (run: R) => MaybePromise<StageResult>

/** The subject of stages, which gathers what they obtain. */
export interface StagedRun {
  /** The call ended while a stage waited. */
  readonly has_ended: boolean
  /** Releases what stages have obtained. */
  release(): void
}

/** Runs the stages in order: in one turn as long as none of them waits. */
export function runStages<R extends StagedRun>(
  stages: readonly RunStage<R>[],
  run: R,
  from = 0,
): MaybePromise<StageResult> {
  for (let at = from; at < stages.length; at++) {
    const result = stages[at]!(run)
    if (result instanceof Promise) return afterWait(result, stages, run, at + 1)
    if (result === 'done') return 'done'
  }
  return undefined
}

async function afterWait<R extends StagedRun>(
  wait: Promise<StageResult>,
  stages: readonly RunStage<R>[],
  run: R,
  next: number,
): Promise<StageResult> {
  const result = await wait
  if (run.has_ended) {
    run.release()
    return undefined
  }
  return result ?? runStages(stages, run, next)
}
