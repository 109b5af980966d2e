import {isList, type JsonPath, type JsonValue, own, withAll} from './json.ts'
import type {View} from './view.ts'

export interface Image {
  readonly media_type: string
  readonly base64: string
}

interface Place {
  readonly url: string
  readonly path: JsonPath
  /** The value of `path` once the picture is there. */
  put(image: Image): JsonValue
}

/** The pictures that the messages of a request name by an http(s) URL. */
export function imagesIn({endpoint, body}: View): readonly Place[] {
  const key = endpoint === 'createModelResponse' ? 'input' : 'messages'
  const messages = own(body, key)
  if (!isList(messages)) return []
  return messages.flatMap((message, index) => {
    const content = own(message, 'content')
    if (!isList(content)) return []
    return content.flatMap((part, place) => pictures(part, [key, index, 'content', place]))
  })
}

/** The view with each picture that is known by its URL in its place. */
export function inlined(view: View, images: ReadonlyMap<string, Image>): View {
  const edits = imagesIn(view).flatMap(({url, path, put}) => {
    const image = images.get(url)
    return image ? [{path, put: put(image)}] : []
  })
  const body = withAll(view.body, edits)
  return body === view.body ? view : view.withBody(body)
}

function pictures(part: JsonValue, path: JsonPath): Place[] {
  const text = (url: JsonValue | undefined, at: JsonPath): Place[] =>
    typeof url === 'string' && /^https?:\/\//i.test(url)
      ? [{url, path: [...path, ...at], put: ({media_type, base64}) => `data:${media_type};base64,${base64}`}]
      : []
  const named = own(part, 'image_url')
  const source = own(part, 'source')
  const url = own(source, 'url')
  if (
    own(part, 'type') === 'image' &&
    own(source, 'type') === 'url' &&
    typeof url === 'string' &&
    /^https?:\/\//i.test(url)
  )
    return [
      {url, path: [...path, 'source'], put: ({media_type, base64}) => ({type: 'base64', media_type, data: base64})},
    ]
  return typeof named === 'string' ? text(named, ['image_url']) : text(own(named, 'url'), ['image_url', 'url'])
}
