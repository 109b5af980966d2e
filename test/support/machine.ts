/** A machine whose clock may be set: `pass` lets time pass, `set` sets the clock alone. */
export function machine(wall_ms: number) {
  let steady_ms = 0
  return {
    now: () => wall_ms,
    steady: () => steady_ms,
    pass(ms: number) {
      wall_ms += ms
      steady_ms += ms
    },
    set(by_ms: number) {
      wall_ms += by_ms
    },
  }
}
