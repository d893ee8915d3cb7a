"""The assistants that the caller may use."""

from chat.models import Agent, Membership
from tests import builders
from tests.api.cases import ApiCase


class AgentTests(ApiCase):
    def setUp(self) -> None:
        super().setUp()
        builders.mode(self.agent, name="试卷")

    async def listed(self) -> list[dict]:
        return (await self.get("/agents")).json()["agents"]

    async def test_assistant_comes_with_modes_model_and_place(self) -> None:
        assert await self.listed() == [
            {
                "id": self.agent.pk,
                "name": self.agent.name,
                "description": "",
                "tenant": {"id": self.school.pk, "name": self.school.name},
                "modes": [{"id": "exam", "name": "试卷"}],
                "model": "demo",
                "is_local": True,
            }
        ]

    async def test_assistants_of_other_schools_are_not_listed(self) -> None:
        await Membership.objects.all().adelete()
        assert await self.listed() == []

    async def test_assistants_that_are_switched_off_are_not_listed(self) -> None:
        await Agent.objects.aupdate(is_active=False)
        assert await self.listed() == []


class TwoSchoolsTests(ApiCase):
    def setUp(self) -> None:
        super().setUp()
        self.other = builders.agent(builders.tenant())
        Membership.objects.create(tenant=self.other.tenant, user=self.user)

    async def test_assistants_of_both_schools_are_listed(self) -> None:
        ids = {one["id"] for one in (await self.get("/agents")).json()["agents"]}
        assert ids == {self.agent.pk, self.other.pk}

    async def test_assistant_decides_the_school_of_the_thread(self) -> None:
        response = await self.post(f"/agents/{self.other.pk}/run", {"input": "出题"})
        thread = await self.user.threads.aget()
        assert (response.status_code, thread.tenant_id) == (200, self.other.tenant_id)
