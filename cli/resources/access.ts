import {isObject} from '../../src/base/json-object.ts'
import {called, type Spec} from './document.ts'
import type {ApplyTarget, Known, SpecField} from './kind.ts'

/** Objects of a list in the order of what names them, each in its one form; those without a form are left out. */
export function inOrder(value: unknown, name: string, change: (each: unknown) => unknown): unknown {
  if (!Array.isArray(value)) return value
  const key = (each: unknown) => (isObject(each) ? String(each[name]) : '')
  return value
    .map(change)
    .filter(each => each !== undefined)
    .sort((a, b) => compared(key(a), key(b)))
}

/** Texts, each once and in order. */
export function textsInOrder(value: unknown): unknown {
  return Array.isArray(value) ? [...new Set(value.map(String))].sort(compared) : value
}

export function compared(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** The workspaces that a resource of the organisation is for; without the field it is for all. */
export const ALLOWED: SpecField = {normal: textsInOrder}

/** The field as the gateway shows it, its workspaces by their words. */
export function allowedOf({allow_all_workspaces, allowed_workspaces}: Spec, {handleOf}: ApplyTarget): unknown {
  return allow_all_workspaces === true ? undefined : (allowed_workspaces as string[]).map(handleOf)
}

/** The value that is sent for it. */
export function allowedBody(allowed: unknown, {slugOf}: ApplyTarget): Spec {
  return allowed === undefined ? {allow_all_workspaces: true} : {allowed_workspaces: (allowed as string[]).map(slugOf)}
}

/** The workspaces by their slugs, where they can be read as such: what is no list is refused as it is. */
export function allowedIn({allowed_workspaces: allowed}: Spec, place: ApplyTarget): Spec {
  return Array.isArray(allowed) && allowed.every(each => typeof each === 'string') ? allowedBody(allowed, place) : {}
}

/** The unknown names in a list of workspaces. */
export function unknownWorkspaces(names: readonly unknown[], pathOf: (at: number) => string, known: Known): string[] {
  return names.flatMap((name, at) => {
    const address = {kind: 'workspace', workspace: null, slug: String(name)}
    return known(address) ? [] : [`${pathOf(at)}: there is no ${called(address).slice(0, 80)}`]
  })
}
