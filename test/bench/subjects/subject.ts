import type {SubjectId} from '../options.ts'

/** Something that a chat can be sent to: the provider itself, or one of what stands in front of it. */
export interface Subject {
  readonly id: SubjectId
  readonly name: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly pid: number
  stop(): Promise<void>
}

/** What every subject is started with. */
export interface Surroundings {
  /** A folder of the benchmarks, ignored by git. */
  readonly folder: string
  /** Where the provider answers, such as `http://127.0.0.1:9000`. */
  readonly upstream: string
  /** Processors that subjects may run on, and those for the provider; undefined for all. */
  readonly processors: string | undefined
  readonly load_processors: string | undefined
  /** Settings of a subject of ours. */
  readonly env?: Readonly<Record<string, string>>
}

/** A subject is not measured because this machine lacks something; `message` says what. */
export class MissingFault extends Error {}
