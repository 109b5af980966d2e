import {stabilityAi} from '../../../src/providers/stability-ai/index.ts'
import {testFixtures, testHostile} from '../../support/dialect.ts'

testFixtures(stabilityAi, {imageGenerate: 3})
testHostile(stabilityAi, ['imageGenerate'])
