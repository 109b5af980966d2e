import {afterAll, beforeAll} from 'vitest'
import {testGoldens} from './files.ts'
import {OTHERS} from './others.ts'
import {REALTIME} from './realtime.ts'
import {openScene, type Scene} from './scene.ts'

let scene: Scene
beforeAll(async () => {
  scene = await openScene()
})
afterAll(() => scene.close())

testGoldens('others', {...OTHERS, realtime: REALTIME}, () => scene)
