import {object, parsed} from '../../../base/json-object.ts'
import type {ManagerReply} from '../../services.ts'

/** A path as people type it. */
export interface TypedPath {
  /** Without slashes at its ends. */
  readonly path: string
  readonly version: string | null
}

/** A form in which a path may be read. */
export interface ReadForm {
  readonly is_v2: boolean
  /** After `/v1/`, encoded. */
  readonly url_path: string
}

export function typedPath(text: string): TypedPath {
  const [, path = text, version = null] = /^(.*)\?version=(\d{1,9})$/.exec(text) ?? []
  return {path: path.replace(/^\/+|\/+$/g, '').replace(/^v1\//, ''), version}
}

/** The mount of a path, as Vault reports it. */
export interface VaultMount {
  /** With its slash at the end. */
  readonly path: string
  readonly is_v2: boolean
}

export function mountIn({body}: ManagerReply): VaultMount | null {
  const {path, options} = object(object(parsed(body)).data)
  if (typeof path !== 'string' || path === '') return null
  return {path: path.endsWith('/') ? path : `${path}/`, is_v2: object(options).version === '2'}
}

/** The form of a path below a mount that is known; a typed `data/` is taken as it is. */
export function formBelow({path: mount, is_v2}: VaultMount, {path, version}: TypedPath): ReadForm {
  if (!is_v2) return {is_v2: false, url_path: encoded(path)}
  const rest = path.startsWith(mount) ? path.slice(mount.length) : path
  return v2(mount, rest.replace(/^data\//, ''), version)
}

/**
 * Forms to be tried where the mount is not known: its end is before a typed `data/`, else after the first segment,
 * then after two; then the path as it is.
 */
export function formsOf({path, version}: TypedPath): readonly ReadForm[] {
  const v1 = {is_v2: false, url_path: encoded(path)}
  const at = path.indexOf('/data/')
  if (at > 0) return [v2(path.slice(0, at + 1), path.slice(at + '/data/'.length), version), v1]
  const segments = path.split('/')
  const cuts = [1, 2].filter(cut => segments.length > cut)
  const forms = cuts.map(cut => v2(`${segments.slice(0, cut).join('/')}/`, segments.slice(cut).join('/'), version))
  return [...forms, v1]
}

function v2(mount: string, rest: string, version: string | null): ReadForm {
  return {
    is_v2: true,
    url_path: `${encoded(mount)}data/${encoded(rest)}${version === null ? '' : `?version=${version}`}`,
  }
}

/** Each segment by itself: a space and a plus stay what they are. */
function encoded(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/')
}

export {encoded as encodedPath}
