// @ts-check
// The choice of the model that answers, where more than one is configured. It is
// the conversation's: opening one shows its model, and a choice is sent with the
// next question.

import { at, bind, el, show } from "../dom.js";
import { effect } from "../reactive.js";
import { choice, models, open } from "../store.js";
import { modelLabel } from "../turn.js";
import { number, t } from "../words.js";

/** modelsView draws the choice. */
export function modelsView() {
  const select = at("model-select");
  const take = () => (choice.value = models.peek().length > 1 ? select.value : "");
  bind(select, "onchange", take);
  const choose = (name) => {
    select.value = name || byDefault();
    if (select.selectedIndex < 0) select.value = byDefault(); // it is no longer configured
    take();
  };
  effect(() => {
    select.replaceChildren(...models.value.map((model) => el("option", { value: model.name }, described(model))));
    show(at("model-choice"), models.value.length > 1);
    choose(open.peek().model.peek());
  });
  effect(() => choose(open.value.model.value));
  return {
    /** select chooses a conversation's model, or the default where it has none. @param {string} name */
    select: choose,
    /** chosen is the name to send; empty where there is no choice. */
    chosen: () => (at("model-choice").hidden ? "" : select.value),
  };
}

const byDefault = () => models.peek().find((model) => model.default)?.name ?? "";

function described({ name, price }) {
  if (!price) return modelLabel(name);
  return t("{model} · {in} in, {out} out {currency} per million tokens", { model: modelLabel(name), in: amount(price.input), out: amount(price.output), currency: price.currency });
}

const amount = (value) => number(value, { maximumFractionDigits: 6 });
