/** Counts what a scan looks at, in code units, so that a test can hold it to a multiple of the text's length. */
export interface CountedWork {
  spend(units: number): void
  readonly units: number
}

export function work(): CountedWork {
  let units = 0
  return {
    spend(more) {
      units += more
    },
    get units() {
      return units
    },
  }
}
