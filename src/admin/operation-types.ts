import type {AnyOperation} from './operation.ts'

/**
 * The operations of a list by their ids: `ById<List, Repeated<List>>['api_keys.create']`. Only `never` may be in
 * `Twice`, so that an id that comes twice is an error of the compiler, which names it.
 */
export type ById<List extends readonly AnyOperation[], Twice extends never> =
  | {[Each in List[number] as Each['id']]: Each}
  | Twice

/** The ids that come twice in a list. */
export type Repeated<List extends readonly AnyOperation[]> = RepeatedIn<PlacesOf<List>>
type RepeatedIn<Places> = {[Id in keyof Places]: IsUnion<Places[Id]> extends true ? Id : never}[keyof Places]
/** The places of each id in a list: one that comes twice has two. */
type PlacesOf<List extends readonly AnyOperation[]> = {[At in Extract<keyof List, `${number}`> as List[At]['id']]: At}
type IsUnion<T, All = T> = T extends unknown ? ([All] extends [T] ? false : true) : never
