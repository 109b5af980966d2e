import type {Question} from '../content/questions.ts'
import type {GuardedCall} from '../guards/guarded-call.ts'
import type {HeldCall} from '../held/held-calls.ts'
import type {MessageRecord} from '../records/message-record.ts'
import type {RunningCall} from '../relay/running-call.ts'

/** A held call with all that its next round needs. */
export interface HeldRelay extends HeldCall {
  readonly running: RunningCall
  readonly record: MessageRecord
  readonly guarded: GuardedCall | null
  readonly questions: ReadonlyMap<string, Question>
}
