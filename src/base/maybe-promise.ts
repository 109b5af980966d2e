/** At once where the value is in this process; a promise where it is elsewhere. The hot path awaits only promises. */
export type MaybePromise<T> = T | Promise<T>
