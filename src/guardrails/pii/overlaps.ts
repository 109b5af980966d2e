/** Rules that settle which of two overlapping findings is kept. */
export interface Settled {
  readonly start: number
  readonly end: number
  readonly certainty: number
}

/**
 * Of finds that overlap the most certain stays, of equally certain ones the longest, then the first. In order of the
 * text.
 */
export function settled<Span extends Settled>(spans: readonly Span[]): Span[] {
  const kept: Span[] = []
  let cluster: Span[] = []
  let end = 0
  for (const span of [...spans].sort((a, b) => a.start - b.start)) {
    if (cluster.length && span.start >= end) {
      for (const each of best(cluster)) kept.push(each)
      cluster = []
    }
    end = cluster.length ? Math.max(end, span.end) : span.end
    cluster.push(span)
  }
  for (const each of best(cluster)) kept.push(each)
  return kept
}

/** Of findings that overlap one another, those that no better one displaces. */
function best<Span extends Settled>(cluster: readonly Span[]): readonly Span[] {
  if (cluster.length < 2) return cluster
  const kept: Span[] = []
  for (const span of [...cluster].sort(better)) {
    const at = placeOf(span, kept)
    const is_free = (kept[at - 1]?.end ?? 0) <= span.start && (kept[at]?.start ?? span.end) >= span.end
    if (is_free) kept.splice(at, 0, span)
  }
  return kept
}

function better(one: Settled, other: Settled): number {
  return other.certainty - one.certainty || other.end - other.start - (one.end - one.start) || one.start - other.start
}

/** The index of a finding among others in order. */
function placeOf(span: Settled, kept: readonly Settled[]): number {
  let low = 0
  let high = kept.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (kept[middle]!.start < span.start) low = middle + 1
    else high = middle
  }
  return low
}
