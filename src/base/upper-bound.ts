/** Of a bound at 95 %, the part that is left out. */
const LEFT_OUT = 0.05
const ROUNDS = 60

/**
 * The share that is not passed at 95 % when `found` of `all` were found: 3/n for none of n (the rule of three), else
 * the upper end of Clopper and Pearson. 1 where nothing was looked at.
 */
export function upperBound(found: number, all: number): number {
  if (all <= 0 || found >= all) return 1
  if (found === 0) return Math.min(1, 3 / all)
  let [low, high] = [found / all, 1]
  for (let round = 0; round < ROUNDS; round++) {
    const middle = (low + high) / 2
    if (atMost(found, all, middle) > LEFT_OUT) low = middle
    else high = middle
  }
  return high
}

/** The chance of at most `found` of `all` where each has the chance `share`. */
function atMost(found: number, all: number, share: number): number {
  if (share >= 1) return found >= all ? 1 : 0
  const step = Math.log(share) - Math.log1p(-share)
  let log = all * Math.log1p(-share)
  let sum = Math.exp(log)
  for (let count = 1; count <= found; count++) {
    log += Math.log(all - count + 1) - Math.log(count) + step
    sum += Math.exp(log)
  }
  return sum
}
