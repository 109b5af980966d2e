/** A step of a task: a line that a reader of the pages types, and what shows that it did what was wanted. */
export interface Typed {
  /** As it is typed. `$NAME` is what an earlier screen showed. */
  readonly type: string
  /** What has to be visible, at 80 columns. */
  readonly shows: readonly (string | RegExp)[]
  /** What of the screen the next lines need: each the first group of a pattern. */
  readonly takes?: Readonly<Record<string, RegExp>>
  /** How the command ends, if not with 0. */
  readonly code?: number
  /** What the provider got last; for what no client sees. */
  readonly sends?: RegExp
  /** The screen changes by itself: it is typed again until it shows what is waited for. */
  readonly again?: true
}

/** A file that the reader writes in an editor. */
export interface Written {
  readonly file: string
  readonly text: string
}

export interface Task {
  readonly title: string
  /** The pages that say how. */
  readonly pages: readonly string[]
  readonly steps: readonly (Typed | Written)[]
  /** It starts processes, and is left to the larger rings of tests. */
  readonly is_slow?: true
}
