// @ts-check
// What can be asked for here, as the gateway says it: tools, their servers, and the
// models that answer.

import { get, listOf } from "./api.js";
import { label } from "./format.js";
import { signal } from "./reactive.js";
import { t } from "./words.js";

export const tools = signal(/** @type {Map<string, any>} */ (new Map()));
export const toolsProblem = signal("");
export const models = signal(/** @type {any[]} */ ([]));
export const defaultModel = signal("");
/** choice is the model that the next question goes to; empty where there is one model. */
export const choice = signal("");
export const servers = signal(/** @type {Map<string, boolean>} */ (new Map()));

/** titleOf is what people call a tool; a request of a connected server has the server's own name of it. @param {string} name @param {string} [server] */
export const titleOf = (name, server) => t((tools.value.get(name) ?? tools.value.get(`${server}.${name}`))?.title ?? "") || label(name || t("this change"));
export const fieldsOf = (name) => tools.value.get(name)?.fields?.output ?? {};
export const previewOf = (name) => tools.value.get(name)?.fields?.preview ?? {};
export const serverOf = (name) => tools.value.get(name)?.server;

export async function learnTools() {
  try {
    const body = await get("/api/tools");
    tools.value = new Map(listOf(body, "tools").map((tool) => [tool.name, tool]));
    servers.update((known) => new Map([...listOf(body, "servers").map((server) => /** @type {[string, boolean]} */ ([server.name, server.healthy !== false])), ...known]));
    if (body.model) defaultModel.value = body.model;
    toolsProblem.value = tools.peek().size ? "" : t("Your roles open none of the company's data to you here. The person who manages your account can change that.");
  } catch (fault) {
    toolsProblem.value = t("What you can ask could not be listed. {why}", { why: fault.message });
  }
}

// Without the list, the gateway's default answers.
export async function learnModels() {
  models.value = listOf(await get("/api/models"), "models");
}
